/// A place in a program at which the turn goes to another lane than it would by itself.
struct Switch: Hashable, Sendable {
    /// Who has the turn.
    var lane: Int
    /// Which of its own operations it is about to do.
    var operation: Int
    /// Who gets the turn; `Schedule.time` stands for the clock.
    var target: Int
}

/// Who has the turn when: by itself a lane goes on until it cannot, and then the next one does; but for the switches.
///
/// That one form is what is recorded, replayed, shrunk and written as a token.
struct Schedule: Hashable, Sendable {
    var switches: [Switch] = []

    /// The number that stands for the clock where a lane's would.
    static let time = 63
    /// How many lanes there may be.
    static let mostLanes = 63
    private static let version = "2"

    /// The schedule as a word that a command line takes; `test` is what it belongs to.
    func token(for test: String) -> String {
        let numbers = switches.flatMap { [$0.lane, $0.operation, $0.target] }
        let start =
            "\(Self.version)-\(Self.mark(of: test))-"
            + numbers.map { String($0, radix: 36) }.joined(separator: ".")
        return "\(start)-\(Self.check(start))"
    }

    /// The schedule that a token means, or a sentence on why it means none here.
    static func parse(_ token: String, for test: String) throws(TokenError) -> Schedule {
        let parts = token.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard let number = parts.first, Int(number) != nil else { throw .unreadable }
        guard number == version else { throw .otherVersion }
        // What was mistyped must not be taken for another schedule, which would pass, or for another simulation's.
        guard parts.count == 4, parts[3] == check(parts.dropLast().joined(separator: "-")) else {
            throw .unreadable
        }
        guard parts[1] == mark(of: test) else { throw .otherTest }
        let numbers =
            parts[2].isEmpty
            ? [] : parts[2].split(separator: ".", omittingEmptySubsequences: false).map { Int($0, radix: 36) }
        guard numbers.count % 3 == 0, !numbers.contains(nil) else { throw .unreadable }
        let known = numbers.compactMap { $0 }
        return Schedule(
            switches: stride(from: 0, to: known.count, by: 3).map {
                Switch(lane: known[$0], operation: known[$0 + 1], target: known[$0 + 2])
            })
    }

    enum TokenError: Error { case unreadable, otherVersion, otherTest }

    /// A few letters that depend on the test's name and on how it is simulated.
    private static func mark(of test: String) -> String { letters(of: test, upTo: 1_679_616) }

    /// Two letters by which a token is known to have been copied as a whole.
    private static func check(_ start: String) -> String { letters(of: start, upTo: 1_296) }

    private static func letters(of text: String, upTo limit: UInt64) -> String {
        var fingerprint = Fingerprint()
        for byte in text.utf8 { fingerprint.add(Int(byte)) }
        return String(fingerprint.value % limit, radix: 36)
    }
}

/// A number that two unlike sequences hardly share.
struct Fingerprint: Hashable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ number: Int) {
        value = (value ^ UInt64(truncatingIfNeeded: number)) &* 0x0000_0100_0000_01B3
    }
}
