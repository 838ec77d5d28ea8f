import Foundation

// Three components, each confined to an injected context: with private contexts, and with a shared
// one. `swift run -c release --package-path Examples/PrefetchDemo`.
let usage = """
    usage: PrefetchDemo [--quick] [--help]
    Prefetches images with private contexts and with a shared one, and counts the submissions of both.
    With --quick it measures fewer rounds.
    The exit code is 1 if a count is not the expected one, and 2 for an unknown argument.
    """
let arguments = CommandLine.arguments.dropFirst()
if let unknown = arguments.first(where: { !["--quick", "--help"].contains($0) }) {
    print("Unknown argument '\(unknown)'; see --help.")
    exit(2)
}
if arguments.contains("--help") {
    print(usage)
    exit(0)
}

do {
    let faults = try demonstrate(isQuick: arguments.contains("--quick"))
    for fault in faults { print(fault) }
    exit(faults.isEmpty ? 0 : 1)
} catch {
    print("The pictures could not be written: \(error)")
    exit(1)
}
