import Foundation

/// The machine, the compiler, the date and the settings of a run, for the reader of a page.
struct Machine: Equatable {
    /// The model of the processor, if it is known.
    var processor: String?
    var system: String
    var cores: Int
    var swift: String?
    var date: String
    var rounds: Int
    /// Whether the run performed a tenth of the operations.
    var isQuick = false
    var only: String?

    /// The kind of machine, the same for comparable runs.
    var kind: String {
        ([processor, coreCount, system] as [String?]).compactMap { $0 }.joined(separator: ", ")
    }

    /// Whether its figures are comparable with those of other machines.
    var isComplete: Bool { !isQuick && only == nil }

    private var coreCount: String { cores == 1 ? "1 core" : "\(cores) cores" }

    var line: String {
        var parts = [kind]
        if let swift { parts.append("Swift \(swift)") }
        parts += [date, rounds == 1 ? "1 round" : "\(rounds) rounds"]
        if isQuick { parts.append("quick") }
        if let only { parts.append("only lines with \"\(only)\"") }
        return parts.joined(separator: ", ")
    }

    /// Parses the version from the output of `swift --version`.
    static func version(in text: String) -> String? {
        guard let start = text.range(of: "Swift version ")?.upperBound else { return nil }
        let version = text[start...].prefix { $0.isNumber || $0 == "." }
        return version.isEmpty ? nil : String(version)
    }

    /// Describes this machine, today.
    static func here(rounds: Int, isQuick: Bool, only: String?) -> Machine {
        let day = Date.now.formatted(.iso8601.year().month().day())
        return Machine(
            processor: processorName(), system: systemName,
            cores: ProcessInfo.processInfo.activeProcessorCount, swift: installedVersion(),
            date: day,
            rounds: rounds, isQuick: isQuick, only: only)
    }

    /// The version of the toolchain on the path, which is normally the one that built this program.
    private static func installedVersion() -> String? {
        output(of: ["swift", "--version"]).flatMap(version(in:))
    }
}
