/// The names that the events of a ring refer to by number, each once.
///
/// A number is reused only when no event of the ring and no thread buffer refers to it. So no event
/// is shown under the name of a later one.
struct RecorderNames<Name: Hashable & Sendable>: Sendable {
    /// The names by their numbers. An unused number has its last name.
    private(set) var all: [Name] = []
    private var numbers: [Name: UInt32] = [:]
    /// The position in the ring of the newest event with each number; none for an unused number.
    private var newest: [Int] = []
    private var unused: [UInt32] = []
    /// The position at which the ring must begin before unused names are searched again.
    private var nextSearch = 0

    private static var noEvent: Int { -1 }
    private static var noName: Int { .max }

    /// How many names are in use.
    var count: Int { numbers.count }

    /// The number of a name that is in use.
    func number(of name: Name) -> UInt32? { numbers[name] }

    /// The number of a name in use that satisfies `isRight`.
    func number(where isRight: (Name) -> Bool) -> UInt32? {
        numbers.first { isRight($0.key) }?.value
    }

    /// Assigns a number to a new name; nil if `limit` names are in use.
    mutating func add(_ name: Name, limit: Int) -> UInt32? {
        guard count < limit else { return nil }
        let number: UInt32
        if let last = unused.popLast() {
            number = last
            all[Int(number)] = name
            newest[Int(number)] = Self.noEvent
        } else {
            number = UInt32(all.count)
            all.append(name)
            newest.append(Self.noEvent)
        }
        numbers[name] = number
        return number
    }

    /// Records that the event at `place` has the number.
    @inline(__always)
    mutating func note(_ number: UInt32, at place: Int) { newest[Int(number)] = place }

    /// Frees the names that no event from `start` on has, except those with a number in `kept`.
    ///
    /// A search examines each name. So the next one waits until the ring begins `pause` positions
    /// later.
    mutating func giveUpUnused(
        before start: Int, pause: Int, except kept: () -> Set<UInt32>
    ) -> Bool {
        guard start >= nextSearch else { return false }
        nextSearch = start + pause
        let kept = kept()
        let before = unused.count
        // The lowest number is assigned first.
        for index in all.indices.reversed() where newest[index] < start {
            guard !kept.contains(UInt32(index)) else { continue }
            numbers[all[index]] = nil
            newest[index] = Self.noName
            unused.append(UInt32(index))
        }
        return unused.count > before
    }
}
