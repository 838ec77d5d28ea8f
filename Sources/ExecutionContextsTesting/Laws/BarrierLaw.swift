internal import ExecutionContexts
internal import Synchronization

// Law 3: a barrier waits for the jobs submitted before it, runs alone, and delays the jobs
// submitted after it.
extension Laws {
    /// Checks one barrier between earlier and later jobs, step by step.
    static func excludes(_ context: some BarrierContext, _ trial: Trial) {
        let ledger = Ledger()
        guard let earlier = trial.hold({ context.execute(ledger.job($0)) }) else { return }
        // Submitted from a separate thread: a context that ignores barriers may run it on the
        // caller.
        let barrier = Hold()
        let isUnderWay = Signal()
        startThread {
            context.executeBarrier(
                ledger.job {
                    isUnderWay.happen()
                    barrier.stay()
                })
            isUnderWay.happen()
        }
        let hasReturned = trial.wait(for: isUnderWay)
        trial.meanwhile()
        let cameEarly = barrier.hasStarted
        let later = (1...3).map { _ in ledger.give { context.execute($0) } }
        trial.meanwhile()
        let overtook = later.contains { $0.runs > 0 }
        earlier.release()
        let hasStarted = cameEarly || trial.wait(for: barrier.started)
        trial.meanwhile()
        let ranBeside = later.contains { $0.runs > 0 }
        barrier.release()
        guard hasReturned, hasStarted, ledger.verify(trial) else { return }
        if cameEarly {
            trial.report(
                3, "started a barrier while work submitted before it was running",
                "Make a barrier wait for all work submitted before it.")
        }
        if overtook {
            trial.report(
                3, "ran work before a barrier that was submitted earlier",
                "Make work submitted after a barrier wait for its end.")
        } else if ranBeside {
            trial.report(
                3, "ran work beside a barrier",
                "Make work submitted after a barrier wait for its end.")
        }
    }

    /// Checks barriers and other jobs that several threads submit at the same time.
    static func excludesAll(_ context: some BarrierContext, _ trial: Trial) {
        let ledger = Ledger()
        let room = Room()
        let haveReturned = trial.fromThreads(3) { _ in
            for index in 0..<40 {
                if index % 5 == 4 {
                    context.executeBarrier(ledger.job { room.useAlone() })
                } else {
                    context.execute(ledger.job { room.use() })
                }
            }
        }
        guard haveReturned, ledger.verify(trial) else { return }
        if room.wasShared {
            trial.report(
                3, "ran a barrier beside other work",
                "Start a barrier when nothing runs, and nothing else until it has ended."
            )
        }
    }
}

/// Detects whether an exclusive user ever shared the room with another user.
private final class Room: Sendable {
    // Relaxed throughout: these counts must not add an order that the context itself does not keep.
    private let inside = Atomic<Int>(0)
    private let shared = Atomic<Bool>(false)
    private static let alone = 1_000_000

    func use() { pass(as: 1, isAllowed: { $0 < Self.alone }) }

    func useAlone() { pass(as: Self.alone, isAllowed: { $0 == Self.alone }) }

    var wasShared: Bool { shared.load(ordering: .relaxed) }

    private func pass(as weight: Int, isAllowed: (Int) -> Bool) {
        let total = inside.add(weight, ordering: .relaxed).newValue
        if !isAllowed(total) { shared.store(true, ordering: .relaxed) }
        inside.subtract(weight, ordering: .relaxed)
    }
}
