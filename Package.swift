// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ExecutionContexts",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "ExecutionContexts", targets: ["ExecutionContexts"]),
        .library(name: "AsyncFunctions", targets: ["AsyncFunctions"]),
        .library(name: "ExecutionContextsWork", targets: ["ExecutionContextsWork"]),
        .library(
            name: "ExecutionContextsObservation", targets: ["ExecutionContextsObservation"]),
        .library(name: "ExecutionContextsTesting", targets: ["ExecutionContextsTesting"]),
        // Apart from the one before, which links no test library: for test targets only.
        .library(name: "ExecutionContextsSearch", targets: ["ExecutionContextsSearch"]),
        // For targets that tell a search each access of memory.
        .library(name: "ExecutionContextsAccesses", targets: ["CAccesses"]),
    ],
    traits: [
        .trait(
            name: "Foundation",
            description: "Contexts over OperationQueue and RunLoop, and thread-locals with a key."),
        .default(enabledTraits: ["Foundation"]),
    ],
    targets: [
        .target(name: "CPlatform"),
        .target(name: "ExecutionContexts", dependencies: ["CPlatform"]),
        .target(name: "AsyncFunctions", dependencies: ["ExecutionContexts"]),
        .target(name: "ExecutionContextsWork", dependencies: ["ExecutionContexts"]),
        // What tells a person about a program: where its code was written, and signals that ask.
        .target(name: "CDiagnostics"),
        .target(
            name: "ExecutionContextsDiagnostics",
            dependencies: ["ExecutionContexts", "CDiagnostics"]),
        // The build embeds the parts of the timeline page, so that no program has to find them.
        .target(
            name: "ExecutionContextsObservation",
            dependencies: ["ExecutionContexts", "ExecutionContextsDiagnostics"],
            resources: [
                "errors.js", "model.js", "path.js", "totals.js", "drawing.js", "facts.js",
                "input.js", "live.js", "selftest.js", "timeline.css", "controls.html",
            ].map { .embedInCode("Timeline/\($0)") }),
        // What code calls that the compiler has made to tell its accesses of memory.
        .target(name: "CAccesses"),
        // How simulations take jobs from the concurrency runtime.
        .target(name: "CSimulation", dependencies: ["CPlatform", "CAccesses"]),
        .target(
            name: "ExecutionContextsTesting",
            dependencies: [
                "ExecutionContexts", "ExecutionContextsDiagnostics", "CSimulation", "CAccesses",
            ]),
        .target(name: "ExecutionContextsSearch", dependencies: ["ExecutionContextsTesting"]),

        .executableTarget(
            name: "Tour",
            dependencies: [
                "ExecutionContexts", "AsyncFunctions", "ExecutionContextsWork",
                "ExecutionContextsObservation", "ExecutionContextsTesting", "Pages",
            ],
            path: "Examples/Tour"),
        // The packages in Examples link to these: where the examples write pages for a browser, and
        // what the process has taken of the system.
        .target(name: "Pages", path: "Examples/Pages"),
        .target(name: "Measuring", path: "Examples/Measuring"),

        .testTarget(
            name: "ExecutionContextsTests",
            dependencies: [
                "ExecutionContexts", "ExecutionContextsObservation", "ExecutionContextsTesting",
                "TestSupport", "CPlatform",
            ]),
        .testTarget(
            name: "ExecutionContextsObservationTests",
            dependencies: [
                "ExecutionContextsObservation", "ExecutionContextsDiagnostics",
                "ExecutionContexts", "ExecutionContextsTesting", "TestSupport",
            ]),
        // Prints the page of a recording, for the check that has a browser look at it.
        .executableTarget(
            name: "TimelineSample",
            dependencies: ["ExecutionContexts", "ExecutionContextsObservation"],
            path: "Tests/TimelineSample"),
        .testTarget(
            name: "ExecutionContextsTestingTests",
            dependencies: [
                "ExecutionContextsTesting", "ExecutionContextsDiagnostics", "SeededBugs",
                "TestSupport",
            ]),
        .testTarget(
            name: "ExecutionContextsSearchTests",
            dependencies: ["ExecutionContextsSearch", "ExecutionContextsTesting", "TestSupport"]),
        // What the tests of several libraries use.
        .target(
            name: "TestSupport",
            dependencies: [
                "ExecutionContextsTesting", "ExecutionContextsSearch", "TestWidth", "CPlatform",
            ],
            path: "Tests/TestSupport",
            // The packages in Examples share these files, and see neither the hooks nor searches.
            swiftSettings: [.define("HasHooks")]),
        // Limits how many test cases run at a time.
        .target(name: "TestWidth", path: "Tests/TestWidth"),
        // Programs with known faults, for the tests of the simulator, and the command that measures it by them.
        .target(
            name: "SeededBugs",
            dependencies: ["ExecutionContexts", "ExecutionContextsTesting"],
            path: "Tests/SeededBugs"),
        // Searches programs with faults, which tell each access of memory. A program of its own:
        // where a module tells its accesses, so do the copies of functions that it shares.
        .executableTarget(
            name: "AccessPrograms",
            dependencies: ["ExecutionContextsTesting"],
            path: "Tests/AccessPrograms",
            swiftSettings: [.unsafeFlags(["-Xfrontend", "-sanitize=thread"])]),
        .executableTarget(
            name: "Corpus",
            dependencies: ["ExecutionContexts", "ExecutionContextsTesting", "SeededBugs"],
            path: "Tests/Corpus"),
        .testTarget(
            name: "AsyncFunctionsTests",
            dependencies: ["AsyncFunctions", "ExecutionContextsTesting", "TestSupport"]),
        // Programs that these tests run, one for each kind of main.
        .executableTarget(
            name: "MainKinds",
            dependencies: ["ExecutionContexts", "AsyncFunctions"],
            path: "Tests/MainKinds/Plain"),
        .executableTarget(
            name: "AsyncMain",
            dependencies: ["ExecutionContexts", "AsyncFunctions"],
            path: "Tests/MainKinds/Async"),
        .testTarget(
            name: "ExecutionContextsWorkTests",
            dependencies: [
                "ExecutionContextsWork", "ExecutionContexts", "ExecutionContextsObservation",
                "ExecutionContextsTesting", "TestSupport", "Measuring",
            ]),
        .testTarget(
            name: "TourTests",
            dependencies: [
                "Tour", "ExecutionContexts", "ExecutionContextsObservation", "TestSupport",
            ]),
        // The snippets of the sources as they stand there, in the language of their day.
        .testTarget(
            name: "SourceSnippetsTests",
            dependencies: ["ExecutionContexts", "AsyncFunctions", "TestSupport"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
    ],
    swiftLanguageModes: [.v6]
)

#if os(Linux)
// The library's own protocols for Linux, compiled once more over simulated atomics.
package.targets.append(
    .testTarget(
        name: "ShippedProtocolTests",
        dependencies: [
            "CPlatform", "ExecutionContexts", "ExecutionContextsTesting", "TestSupport",
        ],
        path: "Tests/ShippedProtocols"))
#endif

// One list of settings for every Swift target. Warnings are errors in CI, by flag, so that a newer
// toolchain's new warning never breaks the build of somebody who only depends on this package.
for target in package.targets
where ![
    "CPlatform", "CDiagnostics", "CAccesses", "AccessPrograms", "CSimulation", "TestWidth",
    "ShippedProtocolTests",
].contains(target.name) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .strictMemorySafety(),
        ]
}
