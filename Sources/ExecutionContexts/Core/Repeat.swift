internal import Synchronization

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

extension ExecutionContext {
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
        return Repetition(
            Repeater(on: self, period, policy, tolerance, CodePlace(fileID, line), work))
    }
}

/// A job that repeats; made by `schedule(every:)`.
public final class Repetition: Sendable {
    private let repeater: any Repeating

    init(_ repeater: any Repeating) { self.repeater = repeater }

    /// Ends the repetition: true if this call did it, false if it had ended (law 7).
    ///
    /// No run starts afterwards; a run under way continues to its end. The captures of the job are
    /// freed at once, or at the end of the run under way.
    @discardableResult
    public func cancel() -> Bool { repeater.cancel() }

    /// Whether it was cancelled.
    public var isFinished: Bool { repeater.isFinished }
}

protocol Repeating: Sendable {
    func cancel() -> Bool
    var isFinished: Bool { get }
}

/// Schedules one run after the other.
private final class Repeater<Context: ExecutionContext>: Repeating {
    private struct State: ~Copyable {
        var work: Work?
        var due: ContextInstant
        /// Weak, since its body retains this object. A delay that its context drops, or that never
        /// comes, must not keep both for ever (law 10).
        weak var delay: DelayedWork?
    }

    private let context: Context
    private let period: Duration
    private let policy: DriftPolicy
    private let tolerance: Duration
    private let place: CodePlace
    private let state: Guarded<State>

    init(
        on context: Context, _ period: Duration, _ policy: DriftPolicy, _ tolerance: Duration,
        _ place: CodePlace, _ work: @escaping Work
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

    func cancel() -> Bool {
        let (work, delay) = state.withLock { ($0.work.take(), $0.delay) }
        delay?.cancel()
        return work != nil
    }

    var isFinished: Bool { state.withLock { $0.work == nil } }

    private func run() {
        // Outside the lock, so that the job may cancel its own repetition (law 9).
        guard let work = state.withLock({ $0.work }) else { return }
        work()
        // Outside the lock as well, since it calls the context's clock; only one run at a time
        // changes `due`.
        let next = policy.due(
            after: state.withLock { $0.due }, every: period, at: context.time.now)
        let goesOn = state.withLock { state in
            state.due = next
            return state.work != nil
        }
        if goesOn { schedule(next) }
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
