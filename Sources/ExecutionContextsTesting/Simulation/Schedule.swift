/// A point of a program at which another thread runs next than by default.
struct Switch: Hashable, Sendable {
    /// The running thread.
    var thread: Int
    /// The number of its next operation.
    var operation: Int
    /// The thread that runs next; `Schedule.time` stands for the clock.
    var target: Int
}

/// Which thread runs at each point. By default a thread runs until it cannot, and then the next one
/// runs, except at the switches.
///
/// This one form is recorded, replayed, shrunk and written as a token.
struct Schedule: Hashable, Sendable {
    var switches: [Switch] = []

    /// The number that stands for the clock instead of a thread.
    static let time = 63
    /// How many simulated threads there may be.
    static let mostThreads = 63
    private static let version = "2"

    /// The schedule as a word for a command line; `test` is the simulation that it belongs to.
    func token(for test: String) -> String {
        let numbers = switches.flatMap { [$0.thread, $0.operation, $0.target] }
        let start =
            "\(Self.version)-\(Self.mark(of: test))-"
            + numbers.map { String($0, radix: 36) }.joined(separator: ".")
        return "\(start)-\(Self.check(start))"
    }

    /// Parses a token; throws the reason if it is not valid here.
    static func parse(_ token: String, for test: String) throws(TokenError) -> Schedule {
        let parts = token.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard let number = parts.first, Int(number) != nil else { throw .unreadable }
        guard number == version else { throw .otherVersion }
        // A mistyped token must not be taken for another schedule, which would pass, or for another
        // simulation's.
        guard parts.count == 4, parts[3] == check(parts.dropLast().joined(separator: "-")) else {
            throw .unreadable
        }
        guard parts[1] == mark(of: test) else { throw .otherTest }
        let numbers =
            parts[2].isEmpty
            ? []
            : parts[2].split(separator: ".", omittingEmptySubsequences: false).map {
                Int($0, radix: 36)
            }
        guard numbers.count % 3 == 0, !numbers.contains(nil) else { throw .unreadable }
        let known = numbers.compactMap { $0 }
        return Schedule(
            switches: stride(from: 0, to: known.count, by: 3).map {
                Switch(thread: known[$0], operation: known[$0 + 1], target: known[$0 + 2])
            })
    }

    enum TokenError: Error { case unreadable, otherVersion, otherTest }

    /// A few letters that depend on the test's name and on how it is simulated.
    private static func mark(of test: String) -> String { letters(of: test, upTo: 1_679_616) }

    /// Two letters that detect a token that was not copied completely.
    private static func check(_ start: String) -> String { letters(of: start, upTo: 1_296) }

    private static func letters(of text: String, upTo limit: UInt64) -> String {
        var fingerprint = Fingerprint()
        for byte in text.utf8 { fingerprint.add(Int(byte)) }
        return String(fingerprint.value % limit, radix: 36)
    }
}

/// A hash of a sequence of numbers.
struct Fingerprint: Hashable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ number: Int) {
        value = (value ^ UInt64(truncatingIfNeeded: number)) &* 0x0000_0100_0000_01B3
    }
}
