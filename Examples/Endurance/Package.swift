// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

let package = Package(
    name: "Endurance",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Without the name, the identity is the name of the folder of the clone.
        .package(name: "ExecutionContexts", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Endurance",
            dependencies: [
                .product(name: "ExecutionContexts", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsWork", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsObservation", package: "ExecutionContexts"),
                "Measuring",
            ],
            swiftSettings: settings),
        // A link: what the process has taken of the system.
        .target(name: "Measuring", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
