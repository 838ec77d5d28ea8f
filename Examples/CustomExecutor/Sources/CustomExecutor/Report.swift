import Foundation

/// Prints the parts of the program, and counts failed checks.
struct Report: Sendable {
    private var parts = 0
    private var checks = 0
    private var failures = 0

    /// Begins a part.
    mutating func begin(_ title: String) {
        parts += 1
        print("\n\(parts). \(title)")
    }

    /// Prints an observation, and counts a failure if it is not the expected one.
    mutating func expect<Seen: Equatable>(_ what: String, _ seen: Seen?, toBe expected: Seen) {
        checks += 1
        let text = seen.map { "\($0)" } ?? "nothing"
        if seen == expected {
            print("   " + padded(what) + text)
        } else {
            failures += 1
            print("   " + padded(what) + text + "   <- FAILED: expected \(expected)")
        }
    }

    /// Prints a message, wrapped to the width of a terminal.
    func quote(_ message: String) {
        var line = "     "
        for word in message.split(separator: " ") {
            if line.count + word.count > 78 {
                print(line)
                line = "     "
            }
            line += " " + word
        }
        print(line)
    }

    /// Prints the outcome, and returns the program's exit code.
    func conclude() -> Int32 {
        print("\n\(checks) checks, \(failures) failed.")
        return failures == 0 ? 0 : 1
    }

    private func padded(_ text: String) -> String {
        text + String(repeating: " ", count: max(1, 50 - text.count))
    }
}
