internal import ExecutionContexts
internal import Foundation

/// The environment variables that override the parameters of all searches of the process.
struct SearchEnvironment {
    private let variables: [String: String]

    init(_ variables: [String: String] = ProcessInfo.processInfo.environment) {
        self.variables = variables
    }

    /// A value that cannot be parsed.
    struct Mistake: Error {
        let message: String
    }

    /// Applies them to the settings of one search.
    func apply(to settings: inout Settings) throws(Mistake) {
        if let count: Int = try number("SCHEDULES", atLeast: 1) { settings.schedules = count }
        if let seconds: Int = try number("SECONDS", atLeast: 1) {
            settings.schedules = .max
            settings.limit = .seconds(seconds)
        }
        if let seconds: Int = try number("BUDGET", atLeast: 1) {
            SearchBudget.shared.limit(&settings, to: .seconds(seconds))
        }
        if let path = variables["EXECUTION_CONTEXTS_NIGHTLY"] {
            settings.seed = try nextSeed(for: settings.identity, in: path)
        }
        if let seed: UInt64 = try number("SEED", atLeast: 0) { settings.seed = seed }
    }

    private func number<Number: FixedWidthInteger>(_ name: String, atLeast least: Number)
        throws(Mistake) -> Number?
    {
        let name = "EXECUTION_CONTEXTS_" + name
        guard let text = variables[name] else { return nil }
        guard let number = Number(text), number >= least else {
            throw Mistake(
                message: "\(name) is '\(text)' and must be a whole number of at least \(least).")
        }
        return number
    }

    private static let files = Locked(())

    /// The first seed that no search of this name has used, according to a file; records it there.
    private func nextSeed(for name: String, in path: String) throws(Mistake) -> UInt64 {
        do {
            return try Self.files.withLock { _ in
                let notes = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
                let start = name.split(whereSeparator: \.isNewline).joined(separator: " ") + "\t"
                let last = notes.split(separator: "\n").filter { $0.hasPrefix(start) }
                    .compactMap { UInt64($0.dropFirst(start.count)) }.max()
                let seed = (last ?? 0) + 1
                let file = FileHandle(forWritingAtPath: path)
                let note = Data("\(start)\(seed)\n".utf8)
                guard let file else {
                    try note.write(to: URL(fileURLWithPath: path))
                    return seed
                }
                try file.seekToEnd()
                try file.write(contentsOf: note)
                try file.close()
                return seed
            }
        } catch {
            throw Mistake(
                message:
                    "EXECUTION_CONTEXTS_NIGHTLY is '\(path)', which cannot be written: \(error)")
        }
    }
}
