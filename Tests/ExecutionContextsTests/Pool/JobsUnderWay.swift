import ExecutionContexts
import Synchronization
import TestSupport
import Testing

/// Counts the jobs of a pool that are under way and do not wait by the library's means, and
/// compares them with what law 11 allows at the same moment.
final class JobsUnderWay: Sendable {
    let pool: WorkerPool
    private let entries = Atomic<Int>(0)
    private let exits = Atomic<Int>(0)
    private let comparisons = Atomic<Int>(0)
    private let largestExcess = Atomic<Int>(.min)

    init(on pool: WorkerPool) { self.pool = pool }

    /// How many jobs have entered.
    var entered: Int { entries.load(ordering: .sequentiallyConsistent) }

    // Sequentially consistent, both: see `compare`.
    func enter() { entries.add(1, ordering: .sequentiallyConsistent) }
    func leave() { exits.add(1, ordering: .sequentiallyConsistent) }

    /// Computes for a while, as a job or a part of one.
    func visit() {
        enter()
        compute()
        leave()
    }

    /// Computes for a while; for a job that has entered.
    func compute() {
        for _ in 0..<20_000 { _ = exits.load(ordering: .relaxed) }
        compare()
    }

    /// Waits by the library's means; for a job that has entered.
    func waiting(_ wait: () -> Void) {
        leave()
        wait()
        enter()
    }

    /// Compares the jobs with the figures of the pool, unless jobs enter or leave all the time.
    ///
    /// The exits are read first and last. Where no count has changed, no job entered or left
    /// between the readings of the entries, so that the figures are those of just these jobs.
    func compare() {
        for _ in 0..<1_000 {
            let left = exits.load(ordering: .sequentiallyConsistent)
            let entered = entries.load(ordering: .sequentiallyConsistent)
            let statistics = pool.statistics
            guard entries.load(ordering: .sequentiallyConsistent) == entered,
                exits.load(ordering: .sequentiallyConsistent) == left
            else { continue }
            let excess = entered - left - statistics.width - statistics.substitutes
            // Relaxed, both: figures, read after the end.
            largestExcess.max(excess, ordering: .relaxed)
            comparisons.add(1, ordering: .relaxed)
            return
        }
    }

    /// Expects that no comparison has found too many jobs.
    func expectNoExcess(
        _ comment: @autoclosure () -> Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            largestExcess.load(ordering: .relaxed) <= 0, comment(), sourceLocation: sourceLocation)
        #expect(
            comparisons.load(ordering: .relaxed) > 0, comment(), sourceLocation: sourceLocation)
    }
}
