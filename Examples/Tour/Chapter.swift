import Foundation

/// A chapter of the tour: a title, and code that prints what it observes.
struct Chapter: Sendable {
    let name: String
    let title: String
    let run: @Sendable () async throws -> Void

    func present(_ number: Int, of count: Int) async {
        print("\n" + style.bold("\(number)/\(count)  \(title)"))
        let clock = ContinuousClock()
        do {
            let time = try await clock.measure { try await run() }
            print(style.dim("     (\(time.formattedMilliseconds))"))
        } catch {
            print(style.bold("     This chapter failed: \(error)"))
            exit(1)
        }
    }
}

/// Prints one observation.
func say(_ what: String, _ result: some Any) {
    print("     " + what.padding(58) + style.bold("\(result)"))
}

/// Bold and dim text on a terminal; plain text elsewhere, or if `NO_COLOR` is set.
struct Style: Sendable {
    let isPlain: Bool

    func bold(_ text: String) -> String { isPlain ? text : "\u{1B}[1m\(text)\u{1B}[0m" }
    func dim(_ text: String) -> String { isPlain ? text : "\u{1B}[2m\(text)\u{1B}[0m" }
}

let style = Style(
    isPlain: isatty(STDOUT_FILENO) == 0 || ProcessInfo.processInfo.environment["NO_COLOR"] != nil)

extension String {
    func padding(_ width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}

extension Duration {
    var formattedMilliseconds: String { String(format: "%.1f ms", self / .milliseconds(1)) }
}
