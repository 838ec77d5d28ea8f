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
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    dependencies: [
        // Without the name it would be called as the folder of the clone is.
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
                "Birds",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
