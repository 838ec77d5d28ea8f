// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

let package = Package(
    name: "CustomExecutor",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Without the name, the identity is the name of the folder of the clone.
        .package(name: "ExecutionContexts", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "CustomExecutor",
            dependencies: [
                .product(name: "ExecutionContexts", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsTesting", package: "ExecutionContexts"),
            ],
            swiftSettings: settings)
    ],
    swiftLanguageModes: [.v6]
)
