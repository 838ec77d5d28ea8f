/// The path of a run to its failure, as a few letters: they show where a replay diverges.
///
/// Each of up to sixteen evenly spread steps has a letter: a hash of all decisions and events up to
/// that step.
struct Path: Hashable, Sendable {
    /// The number of steps.
    let steps: Int
    private let letters: [Character]

    private static let mostLetters = 16

    /// The path of a run's first steps.
    init(_ outcome: Search.Outcome, steps: Int) {
        self.steps = steps
        var (fingerprint, events) = (Fingerprint(), outcome.eventHashes[...])
        var letters: [Character] = []
        var next = 0
        for index in 0..<Self.count(steps) {
            let end = Self.end(index, of: steps)
            while next < end {
                while let event = events.first, event.step <= next {
                    fingerprint.add(event.hash)
                    events.removeFirst()
                }
                fingerprint.add(outcome.decisions.word(next))
                next += 1
            }
            letters.append(Character(String(fingerprint.value % 36, radix: 36)))
        }
        self.letters = letters
    }

    var text: String { String(steps, radix: 36) + "." + String(letters) }

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let steps = Int(parts[0], radix: 36), steps >= 0,
            parts[1].count == Self.count(steps)
        else { return nil }
        (self.steps, letters) = (steps, Array(parts[1]))
    }

    /// The steps between which another path of the same length diverges from this one; nil if it
    /// does not.
    func departure(of other: Path) -> ClosedRange<Int>? {
        guard let index = letters.indices.first(where: { letters[$0] != other.letters[$0] }) else {
            return nil
        }
        return (index == 0 ? 1 : Self.end(index - 1, of: steps) + 1)...Self.end(index, of: steps)
    }

    private static func count(_ steps: Int) -> Int { min(steps, mostLetters) }

    private static func end(_ index: Int, of steps: Int) -> Int {
        (index + 1) * steps / count(steps)
    }
}
