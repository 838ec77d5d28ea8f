import Foundation

/// Runs each suite in a separate process, so that the threads that one suite leaves do not slow
/// others.
enum SuiteProcesses {
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// The flag of a process that ends with its input, which its parent keeps open.
    static let childFlag = "--child"

    /// In the process of one suite: ends it when its parent has ended.
    static func endWithParent() {
        Thread.detachNewThread {
            _ = try? FileHandle.standardInput.readToEnd()
            exit(1)
        }
    }

    /// Runs the suites one after another, and returns their results.
    static func run(_ suites: [Suite], isQuick: Bool, only: String?) throws -> [ResultLine] {
        var options: [String] = []
        if isQuick { options.append("--quick") }
        if let only { options += ["--only", only] }
        return try suites.flatMap { try run($0, options) }
    }

    private static func run(_ suite: Suite, _ options: [String]) throws -> [ResultLine] {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "benchmarks-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let path = file.path(percentEncoded: false)
        let arguments = [suite.rawValue, childFlag, "--json", path] + options
        guard let status = runItself(arguments) else {
            throw Fault(
                description: "The process of '\(suite.rawValue)' did not start, or crashed.")
        }
        guard status == 0 else {
            throw Fault(description: "The process of '\(suite.rawValue)' ended with \(status).")
        }
        return try JSONDecoder().decode([ResultLine].self, from: Data(contentsOf: file))
    }
}
