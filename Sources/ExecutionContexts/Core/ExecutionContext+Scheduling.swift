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

    /// Runs `work` on this context every `period`, first after one period, until it is cancelled.
    ///
    /// Runs do not overlap: the next is scheduled when one has ended, by the drift policy. Traps if
    /// `period` is not positive (law 7).
    ///
    /// - Returns: the repetition. Keep it to be able to cancel; released, it continues.
    @_disfavoredOverload
    public func schedule(
        every period: Duration, policy: DriftPolicy = .skip, tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line, _ work: @escaping Work
    ) -> Repetition {
        require(
            period > .zero,
            "\(fileID):\(line): a repetition every \(period) would never let anything else run (law 7). "
                + "Pass a positive period.")
        return Repetition(on: self, period, policy, tolerance, CodePlace(fileID, line), work)
    }

    /// `schedule(at:)` for code of the library, with the place of its own caller.
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

/// The only kind of delayed work. It holds a context of a known type, without a box. Inlinable, so
/// that the call knows the type: to look up a generic class costs as much as the allocation.
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
    @usableFromInline
    final func dueWork() -> Work { CompletionGuard.work(for: DueJob(delay: self)) }
}

/// What the context of a due delay holds. If the context drops it, it frees the body, although the
/// caller keeps a handle (law 10).
private struct DueJob: GuardedJob {
    let delay: DelayedWork

    var source: JobSource { JobSource(delay.place) }

    func run() {
        // A context whose `enqueue` runs jobs on the caller would delay all other delays. It gets
        // the job once more, from another thread, so the job still runs where the context runs it.
        if SystemTime.isFiring { return DispatchQueue.global().async { [delay] in delay.submit() } }
        delay.run()
    }

    func drop() { delay.drop() }
}

/// What a repeated job does when it is late.
public enum DriftPolicy: Sendable {
    /// Keeps to the grid of multiples of the period and leaves out those that have passed.
    case skip
    /// Keeps to the grid and makes up for every one that has passed, at once.
    case catchUp
    /// Waits the whole period after the end of each run.
    case fixedDelay

    /// The run that follows the one that was due at `due` and has ended at `now`.
    package func due(
        after due: ContextInstant, every period: Duration, at now: ContextInstant
    ) -> ContextInstant {
        switch self {
        case .fixedDelay: return now.advanced(by: period)
        case .catchUp: return due.advanced(by: period)
        case .skip:
            let next = due.advanced(by: period)
            if next > now { return next }
            let late = due.duration(to: now).saturatedNanoseconds
            let step = max(period.saturatedNanoseconds, 1)
            return due.advanced(by: .nanoseconds((late / step + 1).multipliedSaturating(by: step)))
        }
    }
}

/// A job that repeats; made by `schedule(every:)`. It schedules one run after the other.
public final class Repetition: Sendable {
    private struct State: ~Copyable {
        var work: Work?
        var due: ContextInstant
        /// Weak, since its body retains this object. A delay that its context drops, or that never
        /// comes, must not keep both for ever (law 10).
        weak var delay: DelayedWork?
    }

    private let context: any ExecutionContext
    private let period: Duration
    private let policy: DriftPolicy
    private let tolerance: Duration
    private let place: CodePlace
    private let state: Guarded<State>

    fileprivate init(
        on context: some ExecutionContext, _ period: Duration, _ policy: DriftPolicy,
        _ tolerance: Duration, _ place: CodePlace, _ work: @escaping Work
    ) {
        self.context = context
        self.period = period
        self.policy = policy
        self.tolerance = tolerance
        self.place = place
        let first = context.time.now.advanced(by: period)
        state = Guarded(State(work: work, due: first))
        schedule(first)
    }

    /// Ends the repetition: true if this call did it, false if it had ended (law 7).
    ///
    /// No run starts afterwards; a run under way continues to its end. The captures of the job are
    /// freed at once, or at the end of the run under way.
    @discardableResult
    public func cancel() -> Bool {
        let (work, delay) = state.withLock { ($0.work.take(), $0.delay) }
        delay?.cancel()
        return work != nil
    }

    /// Whether it was cancelled.
    public var isFinished: Bool { state.withLock { $0.work == nil } }

    private func run() {
        // Outside the lock, so that the job may cancel its own repetition (law 9).
        guard let work = state.withLock({ $0.work }) else { return }
        work()
        // Outside the lock as well: it calls the context's clock. One run at a time changes `due`.
        let next = policy.due(
            after: state.withLock { $0.due }, every: period, at: context.time.now)
        let continues = state.withLock { state in
            state.due = next
            return state.work != nil
        }
        if continues { schedule(next) }
    }

    private func schedule(_ due: ContextInstant) {
        let delay = context.schedule(at: due, tolerance: tolerance, from: place) { self.run() }
        let isOver = state.withLock { state in
            // A delay that has started already may have stored its successor.
            if state.work != nil, delay.isWaiting { state.delay = delay }
            return state.work == nil
        }
        if isOver { delay.cancel() }
    }
}
