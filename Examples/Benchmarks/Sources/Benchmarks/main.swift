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
let runs = value(of: "--runs") ?? "Examples/Benchmarks/runs.tsv"
let arguments = Set(words)
let known: Set<String> = ["--quick", "--again", "--help", SuiteProcesses.childFlag]
guard arguments.isSubset(of: known.union(Suite.names)), !arguments.contains("--help") else {
    print(
        """
        usage: Benchmarks [--quick] [--only TEXT] [--json FILE]
                          [--report DIR [--runs FILE] [--again]] [SUITE ...]
        """)
    print("The suites are \(Suite.names.joined(separator: ", ")).")
    print("Without a suite, all run; with a text, the rows whose names contain it.")
    print(
        "--json writes the results as JSON. --report replaces the tables of Performance.md and draws charts,"
    )
    print("and replaces the kept runs of this kind of machine; with --again it keeps them, too.")
    print("--runs is the file of the kept runs; by default Examples/Benchmarks/runs.tsv.")
    print("Every row compares two alternatives in one process, which alternate round by round.")
    exit(arguments.contains("--help") ? 0 : 2)
}

// Checked before the measurements, which take long.
if folder != nil, !Report.canKeep(in: runs) {
    print("There is no folder for '\(runs)'.")
    print("Run this in the root of the repository, or pass the file of runs with --runs.")
    exit(2)
}

let bench = Bench(isQuick: arguments.contains("--quick"), only: only)
let named = Suite.allCases.filter { arguments.contains($0.rawValue) }
let chosen = named.isEmpty ? Suite.allCases : named
let runsHere = chosen.count == 1 || !canRunItself

if arguments.contains(SuiteProcesses.childFlag) { SuiteProcesses.endWithParent() }

if runsHere && chosen.contains(.coordinator) { MainThreadTimes.measure(bench) }

// The benchmarks run on a second thread, as hot code usually does. In a program with one thread the
// C library has cheaper locks. The main thread does not run the writes that it waits for (law 20).
Thread.detachNewThread {
    do {
        if runsHere {
            for suite in chosen {
                bench.heading(suite.title)
                let pace = Pace()
                suite.run(bench)
                pace.report(bench)
            }
        } else {
            Results.shared.add(
                try SuiteProcesses.run(chosen, isQuick: bench.isQuick, only: bench.only))
        }
        if let file { try Results.shared.write(to: file) }
        if let folder {
            let machine = Machine.here(rounds: bench.rounds, isQuick: bench.isQuick, only: only)
            var report = Report(machine: machine, lines: Results.shared.lines)
            report.isAnother = arguments.contains("--again")
            try report.write(to: folder, runs: runs)
        }
    } catch {
        print("The benchmarks failed: \(error)")
        exit(1)
    }
    exit(0)
}
dispatchMain()
