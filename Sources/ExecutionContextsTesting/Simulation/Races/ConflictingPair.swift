/// Two operations of different threads whose order made a difference: both used one object, at
/// least one changed it, and in some schedule nothing else ordered the two.
///
/// The counts are of the schedules whose steps were examined (`SimulationReport.pairs`), including
/// those where something else ordered the two.
public struct ConflictingPair: Hashable, Sendable, CustomStringConvertible {
    /// The name of the object.
    public let object: String
    /// The operation that came first where the pair was first seen, for example `'alice' writes`.
    public let first: String
    /// The other operation.
    public let second: String
    /// In how many schedules `first` came before `second`.
    public let inOrder: Int
    /// In how many schedules `second` came before `first`.
    public let reversed: Int

    public var description: String {
        let pair = "\(first) '\(object)', \(second) '\(object)'"
        return reversed > 0
            ? "\(pair): \(Self.times(inOrder)) in this order, and \(Self.times(reversed)) in the other"
            : "\(pair): only in this order, \(Self.times(inOrder))"
    }

    private static func times(_ number: Int) -> String { number == 1 ? "once" : "\(number) times" }
}

/// Counts, over the schedules of a search, the orders of pairs of conflicting operations.
struct ConflictingPairs {
    /// What a thread does. Identified by name: a number may mean another thread in another
    /// schedule.
    private struct Use: Hashable {
        let thread: String
        let kind: Access.Kind

        var text: String { "'\(thread)' \(kind.verb)" }
    }

    private struct Pair: Hashable {
        let object: String
        let first: Use
        let second: Use

        var other: Pair { Pair(object: object, first: second, second: first) }
    }

    private struct Count {
        let number: Int
        var inOrder = 0
        var reversed = 0
        /// Whether in some schedule nothing else ordered the two.
        var hasRaced = false
    }

    private var counts: [Pair: Count] = [:]
    /// A program that creates objects endlessly has no limit on pairs.
    private static let mostPairs = 10_000

    /// A pair in one schedule, identified by numbers.
    private struct LocalPair: Hashable {
        let object: SharedObject
        let first: Int
        let firstKind: Access.Kind
        let second: Int
        let secondKind: Access.Kind
    }

    /// Adds what happened in one schedule; each pair counts once in each order.
    mutating func add(_ races: Races, of log: OrderLog) {
        var places: [LocalPair: Int] = [:]
        var seen: [(pair: LocalPair, isRace: Bool)] = []
        races.forEachPair { earlier, later, isRace in
            for access in earlier.accesses {
                for other in later.accesses where access.conflicts(with: other) {
                    let pair = LocalPair(
                        object: access.object, first: earlier.thread, firstKind: access.kind,
                        second: later.thread, secondKind: other.kind)
                    if let place = places[pair] {
                        if isRace { seen[place].isRace = true }
                    } else {
                        places[pair] = seen.count
                        seen.append((pair, isRace))
                    }
                }
            }
        }
        for (pair, isRace) in seen { count(pair, isRace, log) }
    }

    private mutating func count(_ local: LocalPair, _ isRace: Bool, _ log: OrderLog) {
        guard let object = log.name(of: local.object) else { return }
        func use(_ thread: Int, _ kind: Access.Kind) -> Use {
            Use(thread: log.threadNames[thread], kind: kind)
        }
        let pair = Pair(
            object: object, first: use(local.first, local.firstKind),
            second: use(local.second, local.secondKind))
        count(pair, isRace)
    }

    private mutating func count(_ pair: Pair, _ isRace: Bool) {
        if counts[pair.other] != nil, pair.other != pair {
            counts[pair.other]!.reversed += 1
            if isRace { counts[pair.other]!.hasRaced = true }
        } else if counts[pair] != nil || counts.count < Self.mostPairs {
            let number = counts.count
            counts[pair, default: Count(number: number)].inOrder += 1
            if isRace { counts[pair]!.hasRaced = true }
        }
    }

    /// The pairs that have raced, in the order in which they were first seen.
    var all: [ConflictingPair] {
        counts.filter(\.value.hasRaced).sorted { $0.value.number < $1.value.number }
            .map { pair, count in
                ConflictingPair(
                    object: pair.object, first: pair.first.text, second: pair.second.text,
                    inOrder: count.inOrder, reversed: count.reversed)
            }
    }
}

extension Access.Kind {
    fileprivate var verb: String {
        switch self {
        case .reads: "reads"
        case .writes: "writes"
        case .acquires: "takes"
        case .releases: "releases"
        }
    }
}
