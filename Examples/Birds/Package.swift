// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

let package = Package(
    name: "Birds",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Without the name, the identity is the name of the folder of the clone.
        .package(name: "ExecutionContexts", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Birds",
            dependencies: [
                .product(name: "ExecutionContexts", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsObservation", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsTesting", package: "ExecutionContexts"),
                "Pages",
            ],
            swiftSettings: settings),
        // A link: where the examples write pages for a browser.
        .target(name: "Pages", swiftSettings: settings),
        .testTarget(
            name: "BirdsTests",
            dependencies: [
                .product(name: "ExecutionContexts", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsObservation", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsTesting", package: "ExecutionContexts"),
                "Birds", "TestSupport",
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
