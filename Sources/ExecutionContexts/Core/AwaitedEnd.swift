internal import Synchronization

/// The end of a job that a thread waits for. The waiter sees the steps of the job:
///
/// | `steps` | the job | `isDone` | `isFreed` |
/// |---|---|---|---|
/// | 0 | is queued, or runs | false | false |
/// | `ran` | has run, and is not freed yet | true | false |
/// | `freed`, with or without `ran` | has been freed, run or dropped | true | true |
package final class AwaitedEnd: Sendable {
    private let semaphore = BinarySemaphore()
    /// The steps that have happened, as a sum.
    private let steps = Atomic<UInt8>(0)
    private static var ran: UInt8 { 1 }
    private static var freed: UInt8 { 2 }

    package init() {}

    /// Whether the job has run or was dropped, and is freed. Acquiring: the waiter sees what the
    /// job did.
    package var isFreed: Bool {
        SimulationHooks.look()
        return steps.load(ordering: .acquiring) & Self.freed != 0
    }

    /// Whether the job has run or was dropped; it may not be freed yet. Acquiring, as in `isFreed`.
    var isDone: Bool {
        SimulationHooks.look()
        return steps.load(ordering: .acquiring) != 0
    }

    /// Records the end, and wakes the waiter.
    ///
    /// Acquiring: another thread than the one that ran the job may release its last reference.
    /// Releasing, and a read-modify-write rather than a store: a retain may sink below a store.
    func complete() {
        steps.bitwiseOr(Self.freed, ordering: .acquiringAndReleasing)
        semaphore.signal()
    }

    /// Wakes the waiter before the end, to check its condition again.
    package func unpark() { semaphore.signal() }

    /// Parks the caller until the end or until `unpark`.
    package func park() { semaphore.wait() }

    /// Waits for the end, which needs a job of `context`; traps if that job can never run while the
    /// caller waits (law 27).
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
            !semaphore.wait(until: MonotonicClock.nanoseconds + 1_000_000_000),
            !isFreed
        {
            probe(name)
        }
        wait(then: resumption)
    }

    func wait(then resumption: BlockingScope.Resumption) {
        while !isFreed { semaphore.wait(then: resumption) }
    }

    /// What the closure of a job holds: the end comes when the closure is freed, run or not. A
    /// `CompletionGuard` would end the wait before the captures are freed.
    final class Ending: Sendable {
        private let end: AwaitedEnd
        init(_ end: AwaitedEnd) { self.end = end }
        deinit { end.complete() }

        /// Records that the job has run and is not freed yet. Releasing: `complete` acquires.
        func ran() { end.steps.bitwiseOr(AwaitedEnd.ran, ordering: .releasing) }
    }

    /// Runs `body` in the job that `submit` passes to a context, as part of the caller, and waits
    /// for it; nil if the job was dropped. `base` is the context whose jobs the wait needs.
    package static func result<Value, Failure: Error>(
        of body: () throws(Failure) -> Value, from base: some ExecutionContext, named name: String,
        _ submit: (_ work: @escaping Work) -> Void
    ) -> Result<Value, Failure>? {
        // Unsafe in name only: one thread at a time uses body and result, and the semaphore orders
        // the accesses of the two threads.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // The caller waits for it.
            let end = AwaitedEnd()
            let caller = Caller.current
            submit { [ending = Ending(end)] in
                caller.run { unsafe work() }
                ending.ran()
            }
            end.wait(for: base, named: name)
        }
        return unsafe result
    }
}

/// A caller's turn in a context: a job of the context stays while the caller runs a body.
///
/// 1. The caller submits the job, and waits for `answer`.
/// 2. The job notes its `place`, completes `answer`, and waits for `end`.
/// 3. The caller runs the body inside of everything that the job is inside of, and signals `end`.
///
/// A job on the caller's own thread runs the body itself. So does one on the main thread, which its
/// context then means. If the context drops the job, the body does not run.
final class CallerTurn: @unchecked Sendable {
    // Unchecked: the job uses `body` and `place` before `answer` completes, the caller after that.
    private let answer = AwaitedEnd()
    private let end = BinarySemaphore()
    private let caller = Caller.current
    private var body: (() -> Void)?
    private var place: Caller?

    private init(_ body: @escaping () -> Void) { self.body = body }

    /// Runs `body` on the caller, as a job of `view`; nil if the job was dropped. `base` is the
    /// context whose jobs the wait needs.
    static func result<Value, Failure: Error>(
        of body: () throws(Failure) -> Value, in view: some ExecutionContext,
        over base: some ExecutionContext
    ) -> Result<Value, Failure>? {
        // Unsafe in name only: one thread at a time uses body and result, and the turn orders the
        // accesses of the two threads.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // The caller waits for it.
            // A view that binds values to a job binds them to the body.
            let turn = CallerTurn(view.bound { unsafe work() })
            view.execute { [ending = AwaitedEnd.Ending(turn.answer)] in
                turn.come()
                ending.ran()
            }
            turn.take(from: base, named: view.name)
        }
        return unsafe result
    }

    /// The job.
    private func come() {
        if caller.isHere || QueueMark.isCallerOnMain {
            let body = body.take()
            return caller.run { body?() }
        }
        place = .current
        answer.complete()
        // `.atOnce`: other jobs of the context wait for this one to end.
        end.wait(then: .atOnce)
    }

    private func take(from base: some ExecutionContext, named name: String) {
        // `.atOnce`: the job, and what waits for it, then waits for the caller.
        answer.wait(for: base, named: name, then: .atOnce)
        guard let place else { return body = nil }
        // Freed before the job resumes, and not on its thread.
        place.surround { body.take()?() }
        end.signal()
    }
}

/// A barrier that occupies one of a context's threads, and its synchronization with the holder.
///
/// 1. The holder submits the barrier and waits for `answer`.
/// 2. The barrier sets `isUnderWay`, completes `answer` and waits for `release`.
/// 3. The holder calls `end`, which signals `release`. The barrier returns.
///
/// If the context drops the barrier, `answer` completes, and `isUnderWay` is still false.
final class Occupation: Sendable {
    private let answer = AwaitedEnd()
    private let release = BinarySemaphore()
    private let isUnderWay = Atomic<Bool>(false)

    /// Submits the barrier, and waits until it occupies its thread.
    static func begin(in context: some BarrierContext) -> Occupation {
        let occupation = Occupation()
        context.executeBarrier { [ending = AwaitedEnd.Ending(occupation.answer)] in
            // Releasing here, acquiring below; the completion of `answer` orders the two as well.
            occupation.isUnderWay.store(true, ordering: .releasing)
            occupation.answer.complete()
            // `.atOnce`: other threads wait for the barrier to end.
            occupation.release.wait(then: .atOnce)
            withExtendedLifetime(ending) {}
        }
        // `.atOnce`: with the hold, the caller has something that other threads may wait for.
        occupation.answer.wait(for: context, named: context.name, then: .atOnce)
        require(
            occupation.isUnderWay.load(ordering: .acquiring),
            "'\(context.name)' dropped a job that a thread was waiting for (law 1). "
                + "It must run each job that it is given.")
        return occupation
    }

    func end() { release.signal() }
}
