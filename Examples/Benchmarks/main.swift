import Foundation

var words = Array(CommandLine.arguments.dropFirst())
var only: String?
if let flag = words.firstIndex(of: "--only"), flag + 1 < words.count {
    only = words.remove(at: flag + 1)
    words.remove(at: flag)
}
let arguments = Set(words)
let known: Set<String> = ["--quick", "--help"]
guard arguments.isSubset(of: known.union(Suite.allCases.map(\.rawValue))), !arguments.contains("--help")
else {
    print(
        "usage: Benchmarks [--quick] [--only TEXT] [\(Suite.allCases.map(\.rawValue).joined(separator: " | "))] ..."
    )
    print(
        "Without a name, all run; with a text, the lines that contain it. Every line compares two ways in one process, round by round in turn."
    )
    exit(arguments.contains("--help") ? 0 : 2)
}

let bench = Bench(isQuick: arguments.contains("--quick"), only: only)
let chosen = Suite.allCases.filter { arguments.contains($0.rawValue) }

// On a thread of its own, as code on hot paths is: a program with one thread gets cheaper locks from the C library,
// and the main thread, which has more to do, does not run the work that it waits for.
Thread.detachNewThread {
    for suite in chosen.isEmpty ? Suite.allCases : chosen {
        bench.heading(suite.title)
        suite.run(bench)
    }
    exit(0)
}
dispatchMain()
