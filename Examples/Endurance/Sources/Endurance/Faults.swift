import Foundation
import Synchronization

/// The faults of a run, counted by kind. Every count must be zero at the end.
final class Faults: Sendable {
    static let shared = Faults()

    enum Kind: String, CaseIterable, Sendable {
        /// A job that never ran, or an end that was never reported.
        case lost
        /// A job that ran twice, or an end that was reported twice.
        case doubled
        /// A job that ran before an earlier one, or beside one that excludes it.
        case reordered
        /// A closure still alive after its job ran or was cancelled; a growing heap; extra threads.
        case leaked
        /// A round that did not end in time.
        case stuck
        /// An incorrect result.
        case wrong
    }

    private let counts = Lock<[Kind: Int]>([:])
    private let examples = Lock<[String]>([])

    func add(_ kind: Kind, _ what: @autoclosure () -> String) {
        counts.withLock { $0[kind, default: 0] += 1 }
        let text = "\(kind.rawValue): \(what())"
        examples.withLock { if $0.count < 20 { $0.append(text) } }
    }

    func count(_ kind: Kind) -> Int { counts.withLock { $0[kind] ?? 0 } }

    var total: Int { counts.withLock { $0.values.reduce(0, +) } }

    /// The descriptions of the first twenty faults.
    var firstOnes: [String] { examples.withLock { $0 } }
}

/// A value behind a lock of the system: the checks do not depend on the library under test.
final class Lock<Value: Sendable>: @unchecked Sendable {
    // Unchecked: `value` is accessed under `lock` only.
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
