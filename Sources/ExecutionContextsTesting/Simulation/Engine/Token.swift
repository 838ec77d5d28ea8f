/// A failing schedule as one word for a command line, with the program's path to the failure.
struct Token {
    let schedule: Schedule
    /// Nil for a token printed before a trap, where no path is known.
    let path: Path?

    private static let version = "3"

    /// Encodes the token; `test` is the simulation that it belongs to.
    func text(for test: String) -> String {
        let numbers = schedule.switches.flatMap { [$0.thread, $0.operation, $0.target] }
        let start = [
            Self.version, Self.testLetters(of: test),
            numbers.map { String($0, radix: 36) }.joined(separator: "."), path?.text ?? "",
        ].joined(separator: "-")
        return "\(start)-\(Self.check(start))"
    }

    /// Parses a token; throws the reason if it is not valid here.
    static func parse(_ text: String, for test: String) throws(Mistake) -> Token {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard let number = parts.first, Int(number) != nil else { throw .unreadable }
        guard number == version else { throw .otherVersion }
        // A mistyped token must not be mistaken for another schedule, which would pass, or for
        // another simulation's.
        guard parts.count == 5, parts[4] == check(parts.dropLast().joined(separator: "-")) else {
            throw .unreadable
        }
        guard parts[1] == testLetters(of: test) else { throw .otherTest }
        let numbers =
            parts[2].isEmpty
            ? []
            : parts[2].split(separator: ".", omittingEmptySubsequences: false).map {
                Int($0, radix: 36)
            }
        guard numbers.count % 3 == 0, !numbers.contains(nil) else { throw .unreadable }
        let known = numbers.compactMap { $0 }
        let switches = stride(from: 0, to: known.count, by: 3).map {
            Switch(thread: known[$0], operation: known[$0 + 1], target: known[$0 + 2])
        }
        let path = Path(parts[3])
        guard path != nil || parts[3].isEmpty else { throw .unreadable }
        return Token(schedule: Schedule(switches: switches), path: path)
    }

    enum Mistake: Error { case unreadable, otherVersion, otherTest }

    /// A few letters that depend on the test's name and its mode of simulation.
    private static func testLetters(of test: String) -> String {
        letters(of: test, upTo: 1_679_616)
    }

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

    /// Each added bit changes about half of the bits, as in SplitMix64; plain sums would collide.
    mutating func add(_ number: Int) {
        value ^= UInt64(truncatingIfNeeded: number)
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        value ^= value >> 31
    }
}
