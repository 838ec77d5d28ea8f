// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

let package = Package(
    name: "PrefetchDemo",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Without the name, the identity is the name of the folder of the clone.
        .package(name: "ExecutionContexts", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "PrefetchDemo",
            dependencies: [
                .product(name: "ExecutionContexts", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsWork", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsObservation", package: "ExecutionContexts"),
                "CountDispatch", "Pages",
            ],
            swiftSettings: settings),
        // Counts what enters Dispatch, for the demo to compare with its own count.
        .target(name: "CountDispatch"),
        // A link: where the examples write pages for a browser.
        .target(name: "Pages", swiftSettings: settings),
        .testTarget(
            name: "PrefetchDemoTests",
            dependencies: [
                .product(name: "ExecutionContexts", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsWork", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsObservation", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsTesting", package: "ExecutionContexts"),
                "PrefetchDemo", "TestSupport",
            ],
            swiftSettings: settings),
        // A link: what the tests of several libraries use.
        .target(
            name: "TestSupport",
            dependencies: [
                .product(name: "ExecutionContexts", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsTesting", package: "ExecutionContexts"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
