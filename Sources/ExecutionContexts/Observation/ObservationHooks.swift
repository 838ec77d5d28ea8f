internal import Synchronization

// What the library `ExecutionContextsObservation` uses beyond the public API. Like other libraries,
// it also uses `require` and `SimulationHooks`.

/// The lock of a recorder's events and of a watchdog's jobs. Not generic, unlike `Guarded`: another
/// module cannot specialize a generic lock.
package struct ObservationLock: ~Copyable, Sendable {
    private let guarded = Guarded<Void>(())

    package init() {}

    /// Runs `body` with the lock held; no user code may run in it (law 9).
    package borrowing func withLock(_ body: () -> Void) { guarded.withLock { _ in body() } }
}

/// An observer that takes the job itself, and the instants at which something happened.
package protocol JobObserver: ContextObserver, AnyObject {
    func enqueued(_ job: ObservedJob)
    func started(_ job: ObservedJob, at instant: ContextInstant)
    func finished(_ job: ObservedJob, started: ContextInstant, at instant: ContextInstant)
    func abandoned(_ job: ObservedJob, at instant: ContextInstant)
}

extension ObservedWork.Identity {
    /// Restores an identity that a recorder has stored as plain numbers.
    package init(ofView view: UInt64, job: UInt64) { self.init(view: view, job: job) }
}

extension Async {
    /// Returns an `Async` with the same outcome, which calls `started` before this method returns,
    /// and `ended` once, before its callbacks, with the instant and the job that completed it.
    package func observed(
        as name: String, in time: any TimeSource, started: (ObservedWork) -> Void,
        ended: @escaping @Sendable (ObservedWork, ContextInstant, ObservedWork.Identity?) -> Void
    ) -> Async {
        let observed = ObservedFuture(name, time, ended)
        started(observed.value)
        observed.subscribe(to: state) { source, observed in
            observed.complete(like: source, Value.self)
        }
        return Async(state: observed)
    }
}

/// A future state that reports its end.
private final class ObservedFuture: FutureState, @unchecked Sendable {
    // Unchecked because its superclass is; it adds constants and an atomic.
    let value: ObservedWork
    private let time: any TimeSource
    private let ended: @Sendable (ObservedWork, ContextInstant, ObservedWork.Identity?) -> Void
    private let isReported = Atomic<Bool>(false)

    init(
        _ name: String, _ time: any TimeSource,
        _ ended: @escaping @Sendable (ObservedWork, ContextInstant, ObservedWork.Identity?) -> Void
    ) {
        value = ObservedWork(
            1, from: ObservedOrigin(name), at: time.now, of: time.identity, .unknown)
        self.time = time
        self.ended = ended
        super.init(tag: Self.holdsUntilCompletion)
    }

    // Reported before the completion, because the callbacks that completion calls may take long.
    override func sourceCompleted(_ source: FutureState) {
        if isPending { report() }
        propagate(source)
    }

    /// Reports a cancellation, after which the source does not notify it.
    override func didComplete() { report() }

    // Relaxed: a cancelling and a completing thread may race, and either may report the time.
    private func report() {
        guard !isReported.exchange(true, ordering: .relaxed) else { return }
        ended(value, time.now, ObservedJob.running)
    }

    override var label: String { "the recorded '\(value.context)'" }
}

extension ExclusiveHold {
    /// Returns this hold with an action to perform after its release.
    package consuming func then(_ next: @escaping Work) -> ExclusiveHold {
        guard let end = end.take() else { return ExclusiveHold(releasing: next) }
        return ExclusiveHold {
            end()
            next()
        }
    }
}
