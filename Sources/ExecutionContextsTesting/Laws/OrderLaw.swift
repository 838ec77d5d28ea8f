internal import ExecutionContexts
internal import Synchronization

// Law 2: one job at a time, in the order of submission, each seeing the writes of the jobs before
// it.
extension Laws {
    /// Checks that no job starts while another runs, and that queued jobs run in the order of
    /// submission.
    static func oneAtATime(_ context: some SerialContext, _ trial: Trial) {
        let order = Locked<[Int]>([])
        let ledger = Ledger()
        let nested = Signal()
        let hold = trial.hold { work in
            context.execute(
                ledger.job {
                    work()
                    // Submitted while others are queued: it runs after them.
                    context.execute(ledger.job { order.withLock { $0.append(6) } })
                    nested.happen()
                })
        }
        guard let hold else { return }
        for index in 1...5 {
            context.execute(ledger.job { order.withLock { $0.append(index) } })
        }
        trial.meanwhile()
        let early = order.withLock { $0.count }
        hold.release()
        if early > 0 { return reportOverlap(trial) }
        guard trial.wait(for: nested), ledger.verify(trial) else { return }
        expectOrder(order.withLock { $0 }, Array(1...6), trial)
    }

    /// Checks that the jobs of each submitter run in the order of submission, for each way of
    /// submitting.
    static func inOrder(_ context: some SerialContext, _ trial: Trial) {
        let submitters = 3
        let jobs = 60
        let ledger = Ledger()
        let order = Locked<[[Int]]>(Array(repeating: [], count: submitters))
        let inside = Inside()
        let haveReturned = trial.fromThreads(submitters) { submitter in
            for index in 0..<jobs {
                let work = ledger.job {
                    inside.enter()
                    order.withLock { $0[submitter].append(index) }
                    inside.leave()
                }
                switch index % 6 {
                case 1: context.executeBarrier(work)
                case 2: context.enqueue(work)
                case 4: context.execute(work, refused: { _ in })
                default: context.execute(work)
                }
            }
        }
        guard haveReturned, ledger.verify(trial) else { return }
        if inside.hasOverlapped { return reportOverlap(trial) }
        for sequence in order.withLock({ $0 }) { expectOrder(sequence, Array(0..<jobs), trial) }
    }

    /// Checks that a plain variable suffices for state that the jobs share; the thread sanitizer
    /// checks this one.
    static func happensBefore(_ context: some SerialContext, _ trial: Trial) {
        let ledger = Ledger()
        let total = Unsynchronised()
        let haveReturned = trial.fromThreads(3) { _ in
            for _ in 0..<50 { context.execute(ledger.job { total.value += 1 }) }
        }
        guard haveReturned, ledger.verify(trial) else { return }
        let end = Signal()
        let sum = Locked(0)
        context.execute {
            let value = total.value
            sum.withLock { $0 = value }
            end.happen()
        }
        if !trial.wait(for: end) || sum.withLock({ $0 }) != 150 {
            trial.report(
                2, "lost writes of earlier work: 150 increments made \(sum.withLock { $0 })",
                "Pass work to threads with something that orders memory, such as a lock.")
        }
    }

    private static func reportOverlap(_ trial: Trial) {
        trial.report(
            2, "is serial, but started a job while another was running",
            "Run one job at a time, or do not conform to SerialContext.")
    }

    private static func expectOrder(_ order: [Int], _ expected: [Int], _ trial: Trial) {
        guard let index = order.indices.first(where: { order[$0] != expected[$0] }) else { return }
        trial.report(
            2, "ran a submitter's job \(order[index]) where job \(expected[index]) was next",
            "Run work in the order in which execute received it, or do not conform to SerialContext."
        )
    }
}

/// Detects whether two jobs ever ran at the same time.
private final class Inside: Sendable {
    // Relaxed throughout: these counts must not add an order that the context itself does not keep.
    private let count = Atomic<Int>(0)
    private let overlapped = Atomic<Bool>(false)

    func enter() {
        if count.add(1, ordering: .relaxed).newValue > 1 {
            overlapped.store(true, ordering: .relaxed)
        }
    }

    func leave() { count.subtract(1, ordering: .relaxed) }

    var hasOverlapped: Bool { overlapped.load(ordering: .relaxed) }
}

/// A variable that is as safe as the context that its users run on.
///
/// Unchecked: that the context orders all access is the law under test.
private final class Unsynchronised: @unchecked Sendable {
    var value = 0
}
