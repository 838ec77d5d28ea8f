import Foundation

// Random operations on every part of the library, for a given time or number of operations. Nothing
// may be lost, doubled, reordered, leaked, stuck or wrong, and memory and threads must return to
// their initial amounts. Docs/Reliability.md has a report.
var words = Array(CommandLine.arguments.dropFirst())

/// Removes a flag and the word after it, and returns that word.
@MainActor func value(of flag: String) -> String? {
    guard let index = words.firstIndex(of: flag), index + 1 < words.count else { return nil }
    defer { words.removeSubrange(index...(index + 1)) }
    return words[index + 1]
}

var limits = Runner.Limits()
if let seconds = value(of: "--seconds").flatMap(Double.init) { limits.seconds = seconds }
if let count = value(of: "--operations").flatMap(Int.init) {
    limits.operations = count
    limits.seconds = .greatestFiniteMagnitude
}
if let seed = value(of: "--seed").flatMap(UInt64.init) { limits.seed = seed }
if let area = value(of: "--only").flatMap(Area.init) { limits.only = [area] }
if let index = words.firstIndex(of: "--quick") {
    words.remove(at: index)
    limits.seconds = 3
}
guard words.isEmpty else {
    print("usage: Endurance [--quick | --seconds N | --operations N] [--seed N] [--only AREA]")
    print("The areas are \(Area.allCases.map(\.rawValue).joined(separator: ", ")).")
    exit(words == ["--help"] ? 0 : 2)
}

let isFaultless = Report.run(limits)
exit(isFaultless ? 0 : 1)
