import Foundation

var words = Array(CommandLine.arguments.dropFirst())

/// Removes a flag and the word after it, and returns that word.
@MainActor func value(of flag: String) -> String? {
    guard let index = words.firstIndex(of: flag), index + 1 < words.count else { return nil }
    defer { words.removeSubrange(index...(index + 1)) }
    return words[index + 1]
}

let only = value(of: "--only")
let file = value(of: "--json")
let folder = value(of: "--report")
let arguments = Set(words)
let known: Set<String> = ["--quick", "--help"]
guard arguments.isSubset(of: known.union(Suite.names)), !arguments.contains("--help") else {
    print("usage: Benchmarks [--quick] [--only TEXT] [--json FILE] [--report DIR] [SUITE ...]")
    print("The suites are \(Suite.names.joined(separator: ", ")).")
    print("Without a suite, all run; with a text, the rows whose names contain it.")
    print(
        "--json writes the results as JSON. --report replaces the tables of Performance.md and draws charts."
    )
    print("Every row compares two alternatives in one process, which alternate round by round.")
    exit(arguments.contains("--help") ? 0 : 2)
}

let bench = Bench(isQuick: arguments.contains("--quick"), only: only)
let chosen = Suite.allCases.filter { arguments.contains($0.rawValue) }

if chosen.isEmpty || chosen.contains(.coordinator) { MainThreadTimes.measure(bench) }

// The benchmarks run on a second thread, as hot code usually does. In a program with one thread the
// C library has cheaper locks. The main thread does not run the writes that it waits for (law 20).
Thread.detachNewThread {
    for suite in chosen.isEmpty ? Suite.allCases : chosen {
        bench.heading(suite.title)
        suite.run(bench)
    }
    do {
        if let file { try Results.shared.write(to: file) }
        if let folder {
            let machine = Machine.here(rounds: bench.rounds, isQuick: bench.isQuick, only: only)
            try Report(machine: machine, lines: Results.shared.lines).write(to: folder)
        }
    } catch {
        print("The results could not be written: \(error)")
        exit(1)
    }
    exit(0)
}
dispatchMain()
