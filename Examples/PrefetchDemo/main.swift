import Foundation

// Three components that are each confined to a context that they are given: with contexts of their own, and with one
// that they share. `swift run -c release PrefetchDemo`.
let usage = """
    usage: PrefetchDemo [--quick] [--help]
    Prefetches images with private contexts and with a shared one, and counts the submissions of both.
    With --quick each is measured in fewer rounds.
    It ends with 1 if the counts differ from what is expected, and with 2 if it does not know an argument.
    """
let arguments = CommandLine.arguments.dropFirst()
if let unknown = arguments.first(where: { !["--quick", "--help"].contains($0) }) {
    print("The argument '\(unknown)' is not known; see --help.")
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
