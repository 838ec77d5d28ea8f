// swift-tools-version: 6.2
import PackageDescription

// Programs that attack the work library by random operations: built also with the sanitizers.
let package = Package(
    name: "Chaos",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Without the name, the identity is the name of the folder of the clone.
        .package(name: "ExecutionContexts", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Chaos",
            dependencies: [
                .product(name: "ExecutionContexts", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsWork", package: "ExecutionContexts"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .strictMemorySafety(),
            ])
    ],
    swiftLanguageModes: [.v6]
)
