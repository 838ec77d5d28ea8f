/// Checks that an order of the operations, one at a time, explains their answers; throws the history if there is none.
///
/// Each operation has its place in the order between its begin and its end, so that what had returned when another began
/// stands before it. One that has not returned - its thread is gone, its body threw - may have taken effect or not.
///
/// ```swift
/// struct Count: SequentialModel, Hashable {
///     private var count = 0
///     init() {}
///     mutating func apply(_ increment: Int) -> Int {
///         count += increment
///         return count
///     }
/// }
///
/// let history = History(of: Count())
/// let count = LockedResource(0, lockedBy: .section)
/// history.record(2) { count.write { $0 += 2; return $0 } }
/// try expectLinearizable(history)
/// ```
///
/// It throws where it is called, so that every test framework reports it. The error draws as few operations as it can: not
/// those that ended later, nor those whose answers have no part in it. In a simulation use `sim.expectLinearizable`.
///
/// To decide takes exponential time at the worst. `steps` is how many operations of the model are tried; beyond that the
/// error says that nothing is known.
public func expectLinearizable<Model: SequentialModel>(
    _ history: History<Model>, steps: Int = 1_000_000
) throws(HistoryFailure) {
    if let failure = HistoryCheck(model: history.model, limit: steps).failure(of: [history.calls]) {
        throw failure
    }
}

/// Checks the operations on each key by themselves: many short histories instead of one long one.
///
/// For maps, registries and all that consists of independent parts; the model then sees the operations on one key only.
/// An operation that concerns several keys cannot be checked in this way.
public func expectLinearizable<Model: SequentialModel>(
    _ history: History<Model>, steps: Int = 1_000_000,
    partitionedBy key: (Model.Operation) -> some Hashable
) throws(HistoryFailure) {
    let groups = history.calls.grouped { key($0.operation) }
    if let failure = HistoryCheck(model: history.model, limit: steps).failure(of: groups) { throw failure }
}

extension Array {
    /// The elements by their keys, in the order in which the keys come: the same in each run.
    fileprivate func grouped<Key: Hashable>(by key: (Element) -> Key) -> [[Element]] {
        var places: [Key: Int] = [:]
        var groups: [[Element]] = []
        for element in self {
            let key = key(element)
            if let place = places[key] {
                groups[place].append(element)
            } else {
                places[key] = groups.count
                groups.append([element])
            }
        }
        return groups
    }
}

/// Why a history has not been found linearizable. Its description is for people, and draws the operations.
public struct HistoryFailure: Error, Sendable, CustomStringConvertible {
    /// What was found out.
    public enum Kind: Hashable, Sendable {
        /// No order explains the answers.
        case notLinearizable
        /// The work was not enough to know.
        case tooMuchWork
    }

    /// What was found out.
    public let kind: Kind
    /// The operations that no order explains, drawn as one line for each thread or task.
    public let lanes: [String]
    public let description: String

    static func tooMuchWork(_ steps: Int, operations: Int, _ model: String) -> Self {
        Self(
            kind: .tooMuchWork, lanes: [],
            description:
                "Whether the \(operations) operations have an order that explains them is not known after \(steps) steps "
                + "of \(model). Record fewer at a time, make the model Hashable, check by keys with partitionedBy, or raise "
                + "'steps'.")
    }
}

extension SimulatedWorld {
    /// Says that the history must be linearizable when everybody has ended, as `expectLinearizable` does.
    ///
    /// A history that is not is a failure of the simulation, with its schedule and its token.
    public func expectLinearizable<Model: SequentialModel>(_ history: History<Model>, steps: Int = 1_000_000)
    {
        finally("the history is linearizable") {
            try ExecutionContextsTesting.expectLinearizable(history, steps: steps)
            return true
        }
    }

    /// Says that the history must be linearizable, the operations on each key by themselves.
    public func expectLinearizable<Model: SequentialModel, Key: Hashable & SendableMetatype>(
        _ history: History<Model>, steps: Int = 1_000_000,
        partitionedBy key: @escaping @Sendable (Model.Operation) -> Key
    ) {
        finally("the history is linearizable") {
            try ExecutionContextsTesting.expectLinearizable(history, steps: steps, partitionedBy: key)
            return true
        }
    }
}
