// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

// What the library's own layers up to the pool cost: compiled once more, on a simulated machine
// that counts. Linux only. It depends on no product, since it has the sources.
let package = Package(
    name: "Contention",
    targets: [
        // A link.
        .target(name: "CPlatform"),
        .executableTarget(
            name: "Contention",
            dependencies: ["CPlatform"],
            exclude: ["Shipped/Platform/Guarded.swift"],
            swiftSettings: settings),
        .testTarget(
            name: "ContentionTests", dependencies: ["Contention"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
