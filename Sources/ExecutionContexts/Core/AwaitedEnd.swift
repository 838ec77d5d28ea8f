internal import Synchronization

/// The end of a job that a thread waits for.
///
/// The steps of a job, and what the waiter sees:
///
/// | `steps` | the job | `isDone` | `isFreed` |
/// |---|---|---|---|
/// | 0 | is queued, or runs | false | false |
/// | `ran` | has run, and is not freed yet | true | false |
/// | `freed`, with or without `ran` | has been freed, run or dropped | true | true |
package final class AwaitedEnd: Sendable {
    private let semaphore = BinarySemaphore()
    /// The steps that have happened, as a sum of `Step`s.
    private let steps = Atomic<UInt8>(0)

    private enum Step {
        static var ran: UInt8 { 1 }
        static var freed: UInt8 { 2 }
    }

    package init() {}

    /// Whether the job has run or has been dropped, and is freed.
    ///
    /// Acquiring: the waiter sees what the job did.
    package var isFreed: Bool {
        SimulationHooks.look()
        return steps.load(ordering: .acquiring) & Step.freed != 0
    }

    /// Whether the job has run or has been dropped; it may not be freed yet.
    ///
    /// Acquiring, as in `isFreed`.
    var isDone: Bool {
        SimulationHooks.look()
        return steps.load(ordering: .acquiring) != 0
    }

    /// Records that the job has run and is not freed yet. Releasing: `complete` acquires.
    fileprivate func ran() { steps.bitwiseOr(Step.ran, ordering: .releasing) }

    /// Records the end, and wakes the waiter.
    ///
    /// Acquiring: another thread than the one that ran the job may release its last reference.
    /// Releasing, and a read-modify-write rather than a store: a retain may sink below a store.
    func complete() {
        steps.bitwiseOr(Step.freed, ordering: .acquiringAndReleasing)
        semaphore.signal()
    }

    /// Wakes the waiter before the end, to check its condition again.
    package func unpark() { semaphore.signal() }

    /// Parks the caller until the end or until `unpark`.
    package func park() { semaphore.wait() }

    /// Waits for the end, which needs a job of `context`.
    ///
    /// Traps if that job can never run while the caller waits (law 27).
    func wait(
        for context: some ExecutionContext, named name: String,
        then resumption: BlockingScope.Resumption = .whenThereIsRoom
    ) {
        // An inline base has already run it.
        if isFreed { return }
        // A simulation reports by itself that no thread can make progress, and how that came about.
        if SimulationHooks.current != nil { return wait(then: resumption) }
        let forecast = WaitForecast.of(context)
        forecast.trapIfObstructed(name)
        if let drive = forecast.driver { return drive(self) }
        for limiter in forecast.limiters where limiter.jobWaits(for: self) && !isDone {
            WaitForecast.trapEndless(
                name, "the last job that '\(limiter.name)' can run at a time, on which it runs")
        }
        defer { for limiter in forecast.limiters { limiter.jobResumes(after: self) } }
        if let probe = forecast.probe,
            !semaphore.wait(until: MonotonicClock.nanoseconds + Self.probeDelay),
            !isFreed
        {
            probe(name)
        }
        wait(then: resumption)
    }

    /// Waits for the end.
    func wait(then resumption: BlockingScope.Resumption) {
        while !isFreed { semaphore.wait(then: resumption) }
    }

    /// How long the caller waits before it calls the probe, in nanoseconds.
    private static var probeDelay: Int64 { 1_000_000_000 }
}

extension AwaitedEnd {
    /// What the closure of a job holds: the end comes when the closure is freed, run or not.
    ///
    /// Not a `CompletionGuard`, which would end the wait before the captures are freed.
    final class Ending: Sendable {
        private let end: AwaitedEnd
        init(_ end: AwaitedEnd) { self.end = end }
        deinit { end.complete() }
        func ran() { end.ran() }
    }

    /// Runs `body` in the job that `submit` passes to a context, as part of the caller, and waits
    /// for it.
    ///
    /// Returns nil if the job was dropped. `base` is the context whose jobs the wait needs: see
    /// ``wait(for:named:then:)``.
    package static func result<Value, Failure: Error>(
        of body: () throws(Failure) -> Value, from base: some ExecutionContext, named name: String,
        _ submit: (_ work: @escaping Work) -> Void
    ) -> Result<Value, Failure>? {
        // Unsafe in name only: one thread at a time uses body and result, and the semaphore orders
        // the accesses of the two threads.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // The caller waits for it.
            let job = AwaitedJob()
            let caller = Caller.current
            submit { [ending = job.ending] in
                caller.run { unsafe work() }
                ending.ran()
            }
            job.wait(for: base, named: name)
        }
        return unsafe result
    }
}

/// A job and the thread that waits for it. The wait ends when `ending` is released.
private struct AwaitedJob: ~Copyable {
    private let end = AwaitedEnd()
    private(set) var ending: AwaitedEnd.Ending

    init() { ending = AwaitedEnd.Ending(end) }

    consuming func wait(for context: some ExecutionContext, named name: String) {
        let end = end
        _ = consume self
        end.wait(for: context, named: name)
    }
}
