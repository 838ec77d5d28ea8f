// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Without the name, the identity is the name of the folder of the clone.
        .package(name: "ExecutionContexts", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                .product(name: "ExecutionContexts", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsWork", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsObservation", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsTesting", package: "ExecutionContexts"),
                "CountReferences", "Measuring", "SeededBugs",
            ],
            swiftSettings: settings),
        // Counts what the Swift runtime allocates, retains and releases.
        .target(name: "CountReferences"),
        // A link: what the process has taken of the system.
        .target(name: "Measuring", swiftSettings: settings),
        // A link: programs with known faults, for the tests of the simulator.
        .target(
            name: "SeededBugs",
            dependencies: [
                .product(name: "ExecutionContexts", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsTesting", package: "ExecutionContexts"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BenchmarksTests",
            dependencies: ["Benchmarks"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
