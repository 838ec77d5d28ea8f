// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .strictMemorySafety(),
]

let package = Package(
    name: "DropIn",
    platforms: [.macOS(.v15)],
    traits: [
        .trait(name: "Searched", description: "Each lock of the module is a scheduling point.")
    ],
    dependencies: [
        // Without the name, the identity is the name of the folder of the clone.
        .package(name: "ExecutionContexts", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "DropIn",
            dependencies: [
                .product(
                    name: "ExecutionContextsTesting", package: "ExecutionContexts",
                    condition: .when(traits: ["Searched"]))
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DropInTests",
            dependencies: [
                .product(name: "ExecutionContextsTesting", package: "ExecutionContexts"),
                .product(name: "ExecutionContextsSearch", package: "ExecutionContexts"),
                "DropIn",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
