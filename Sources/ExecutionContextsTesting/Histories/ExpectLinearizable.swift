/// Checks that a sequential order of the operations explains their answers; throws the history if
/// there is none.
///
/// Each operation takes effect between its beginning and its end. So an operation that returned
/// before another began precedes it in the order. An operation that has not returned (its thread is
/// gone, or its body threw) may have taken effect or not.
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
/// history.record(2) { count.mutate { $0 += 2; return $0 } }
/// try expectLinearizable(history)
/// ```
///
/// It throws at the call, so that every test framework reports it. The error shows as few
/// operations as possible: it omits those that ended later, and those whose answers are irrelevant.
/// In a simulation use `sim.expectLinearizable`.
///
/// The check takes exponential time in the worst case. `steps` limits how many operations of the
/// model are tried; beyond it the error reports an unknown result.
public func expectLinearizable<Model: SequentialModel>(
    _ history: History<Model>, steps: Int = 1_000_000
) throws(HistoryFailure) {
    if let failure = HistoryCheck(model: history.model, limit: steps).failure(of: [history.calls]) {
        throw failure
    }
}

/// Checks the operations on each key separately: many short histories instead of one long one.
///
/// It is for maps, registries and other structures of independent parts. The model then sees the
/// operations on one key only. An operation that involves several keys cannot be checked in this
/// way.
public func expectLinearizable<Model: SequentialModel>(
    _ history: History<Model>, steps: Int = 1_000_000,
    partitionedBy key: (Model.Operation) -> some Hashable
) throws(HistoryFailure) {
    let groups = history.calls.grouped { key($0.operation) }
    if let failure = HistoryCheck(model: history.model, limit: steps).failure(of: groups) {
        throw failure
    }
}

extension Array {
    /// The elements grouped by key, in the order in which the keys first occur: the same in each
    /// run.
    fileprivate func grouped<Key: Hashable>(by key: (Element) -> Key) -> [[Element]] {
        var indices: [Key: Int] = [:]
        var groups: [[Element]] = []
        for element in self {
            let key = key(element)
            if let index = indices[key] {
                groups[index].append(element)
            } else {
                indices[key] = groups.count
                groups.append([element])
            }
        }
        return groups
    }
}

/// Why a history was not found linearizable. Its description draws the operations, for a reader.
public struct HistoryFailure: Error, Sendable, CustomStringConvertible {
    /// The result of the check.
    public enum Kind: Hashable, Sendable {
        /// No order explains the answers.
        case notLinearizable
        /// The limit of steps was reached before a result.
        case tooMuchWork
    }

    /// The result of the check.
    public let kind: Kind
    /// The operations that no order explains, drawn as one row of text for each thread or task.
    public let threads: [String]
    public let description: String

    static func tooMuchWork(_ steps: Int, operations: Int, _ model: String) -> Self {
        Self(
            kind: .tooMuchWork, threads: [],
            description:
                "Whether the \(operations) operations have an order that explains them is not known after \(steps) steps "
                + "of \(model). Record fewer at a time, make the model Hashable, check by keys with partitionedBy, or raise "
                + "'steps'.")
    }
}

extension SimulatedWorld {
    /// Requires that the history is linearizable when all threads and tasks have ended, as
    /// `expectLinearizable` does.
    ///
    /// A history that is not linearizable is a failure of the simulation, with its schedule and its
    /// token.
    public func expectLinearizable<Model: SequentialModel>(
        _ history: History<Model>, steps: Int = 1_000_000
    ) {
        finally("the history is linearizable") {
            try ExecutionContextsTesting.expectLinearizable(history, steps: steps)
            return true
        }
    }

    /// Requires that the history is linearizable, with the operations on each key checked
    /// separately.
    public func expectLinearizable<Model: SequentialModel, Key: Hashable & SendableMetatype>(
        _ history: History<Model>, steps: Int = 1_000_000,
        partitionedBy key: @escaping @Sendable (Model.Operation) -> Key
    ) {
        finally("the history is linearizable") {
            try ExecutionContextsTesting.expectLinearizable(
                history, steps: steps, partitionedBy: key)
            return true
        }
    }
}
