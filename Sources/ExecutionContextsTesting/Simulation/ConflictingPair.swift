/// Two operations of different threads whose order made a difference: both used one object, at
/// least one changed it, and nothing put one before the other.
///
/// A search that has seen both orders of every pair has looked where most faults of threads are.
/// It has not seen every order of all operations: only `.exhaustive` does.
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
            ? "\(pair): \(inOrder) times in this order, and \(reversed) times in the other"
            : "\(pair): only in this order, \(inOrder) times"
    }
}

/// Counts, over the schedules of a search, the orders of pairs of conflicting operations.
struct ConflictingPairs {
    /// What a thread does to an object.
    private struct Use: Hashable {
        let thread: Int
        let access: Access
    }

    private struct Pair: Hashable {
        let first: Use
        let second: Use
        var other: Pair { Pair(first: second, second: first) }
    }

    private struct Count {
        let number: Int
        let object: String
        let threads: (first: String, second: String)
        var inOrder = 0
        var reversed = 0
    }

    private var counts: [Pair: Count] = [:]
    /// A program that makes objects without end has no end of pairs.
    private static let mostPairs = 10_000

    /// Adds what happened in one schedule; each pair counts once in each order.
    mutating func add(_ races: Races, of log: OrderLog) {
        var seen: Set<Pair> = []
        races.forEachPair { earlier, later in
            for access in earlier.accesses {
                for other in later.accesses where access.conflicts(with: other) {
                    let pair = Pair(
                        first: Use(thread: earlier.thread, access: access),
                        second: Use(thread: later.thread, access: other))
                    if seen.insert(pair).inserted { count(pair, log) }
                }
            }
        }
    }

    private mutating func count(_ pair: Pair, _ log: OrderLog) {
        if counts[pair.other] != nil {
            counts[pair.other]!.reversed += 1
        } else if counts[pair] != nil {
            counts[pair]!.inOrder += 1
        } else if let object = log.name(of: pair.first.access.object),
            counts.count < Self.mostPairs
        {
            let names = log.threadNames
            counts[pair] = Count(
                number: counts.count, object: object,
                threads: (names[pair.first.thread], names[pair.second.thread]), inOrder: 1)
        }
    }

    /// The pairs in the order in which they were first seen.
    var all: [ConflictingPair] {
        counts.sorted { $0.value.number < $1.value.number }.map { pair, count in
            func text(_ thread: String, _ use: Use) -> String {
                "'\(thread)' \(use.access.kind.verb)"
            }
            return ConflictingPair(
                object: count.object, first: text(count.threads.first, pair.first),
                second: text(count.threads.second, pair.second), inOrder: count.inOrder,
                reversed: count.reversed)
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
