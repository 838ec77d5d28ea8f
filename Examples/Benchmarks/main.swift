import Foundation

var words = Array(CommandLine.arguments.dropFirst())

/// The word after a flag, both of which are taken out.
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
    print("Without a name, all run; with a text, the lines that contain it.")
    print(
        "A file takes the results as JSON. In a folder the tables of Performance.md are replaced, and charts drawn."
    )
    print("Every line compares two ways in one process, round by round in turn.")
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
