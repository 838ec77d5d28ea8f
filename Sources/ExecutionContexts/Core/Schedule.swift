internal import Dispatch

extension ExecutionContext {
    /// Runs `work` on this context when `delay` has passed, and not before (law 7).
    ///
    /// Delays on one context fire in the order of `(deadline, submission)`. A zero or negative
    /// delay means as soon as possible; a huge one saturates. The job counts as submitted when it
    /// is due (law 3). The job may run up to `tolerance` later, so that the machine wakes up less
    /// often. Within the tolerance, the order of deadlines is not kept.
    ///
    /// - Returns: the waiting job, which can be cancelled until it starts.
    @discardableResult
    @_disfavoredOverload
    @inlinable
    public func schedule(
        after delay: Duration, tolerance: Duration = .zero, fileID: StaticString = #fileID,
        line: UInt = #line, _ work: consuming @escaping Work
    ) -> DelayedWork {
        let time = self.time
        let deadline = time.now.advanced(by: max(delay, .zero))
        return schedule(
            at: deadline, by: time, tolerance, CodePlace(fileID, line), consume work)
    }

    /// Runs `work` on this context when its time has reached `deadline` (law 7).
    @discardableResult
    @_disfavoredOverload
    @inlinable
    public func schedule(
        at deadline: ContextInstant, tolerance: Duration = .zero, fileID: StaticString = #fileID,
        line: UInt = #line, _ work: consuming @escaping Work
    ) -> DelayedWork {
        schedule(at: deadline, by: time, tolerance, CodePlace(fileID, line), consume work)
    }

    /// The same, for a caller of the library, which has noted its own caller's place.
    @inlinable
    package func schedule(
        at deadline: ContextInstant, tolerance: Duration = .zero, from place: CodePlace,
        _ work: consuming @escaping Work
    ) -> DelayedWork {
        schedule(at: deadline, by: time, tolerance, place, consume work)
    }

    @inlinable
    func schedule(
        at deadline: ContextInstant, by time: any TimeSource, _ tolerance: Duration,
        _ place: CodePlace, _ work: consuming @escaping Work
    ) -> DelayedWork {
        // Passed on as a Boolean: the source itself would be retained and released at each step.
        let isTimedBySystem = time === SystemTime.shared
        let delay = Delay(
            on: self, deadline: deadline, isTimedBySystem: isTimedBySystem, from: place,
            bound(consume work))
        // A delay that never comes is kept by no time source: it costs only the handle.
        if deadline < .never { time.add(delay, tolerance: tolerance) }
        return delay
    }
}

/// The only kind of delayed work. It knows the type of its context, and so holds it without a box.
///
/// Inlinable, like `schedule`, so that the type is known at the call: the look-up of a generic
/// class at run time costs as much as the allocation.
@usableFromInline
@_fixed_layout
final class Delay<Context: ExecutionContext>: DelayedWork, @unchecked Sendable {
    // Unchecked for the reasons given in `DelayedWork`; the context is sendable and never changes.
    @usableFromInline
    let context: Context

    @inlinable
    init(
        on context: Context, deadline: ContextInstant, isTimedBySystem: Bool,
        from place: CodePlace, _ body: consuming @escaping Work
    ) {
        self.context = context
        super.init(
            consume body, deadline: deadline, isTimedBySystem: isTimedBySystem, from: place)
    }

    @inlinable
    override func fire() {
        guard isWaiting else { return }
        submit()
    }

    @inlinable
    override var contextName: String { context.name }

    @inlinable
    override func submit() { context.enqueue(dueWork()) }

    @inlinable
    override func withdraw() { context.time.remove(self) }
}

extension DelayedWork {
    /// What the context of a due delay is given to run.
    @usableFromInline
    final func dueWork() -> Work { CompletionGuard.work(for: DueJob(delay: self)) }
}

/// What the context of a due delay holds. If it is dropped, the body must not live on in a handle
/// that the caller keeps (law 10).
private struct DueJob: GuardedJob {
    let delay: DelayedWork

    var source: JobSource { JobSource(delay.place) }

    func run() {
        // A context that runs its jobs on the caller, and does not say so in `enqueue`, would delay
        // all other delays. It gets the job once more, from another thread, so the job still runs
        // where the context runs it.
        if SystemTime.isFiring { return DispatchQueue.global().async { [delay] in delay.submit() } }
        delay.run()
    }

    func drop() { delay.drop() }
}
