import Foundation

let arguments = Set(CommandLine.arguments.dropFirst())
let known: Set<String> = ["--quick", "--help"]
guard arguments.isSubset(of: known.union(Suite.allCases.map(\.rawValue))), !arguments.contains("--help")
else {
    print("usage: Benchmarks [--quick] [\(Suite.allCases.map(\.rawValue).joined(separator: " | "))] ...")
    print("Without a name, all run. Every line compares two ways in one process, round by round in turn.")
    exit(arguments.contains("--help") ? 0 : 2)
}

let bench = Bench(isQuick: arguments.contains("--quick"))
let chosen = Suite.allCases.filter { arguments.contains($0.rawValue) }
for suite in chosen.isEmpty ? Suite.allCases : chosen {
    bench.heading(suite.title)
    suite.run(bench)
}
