internal import Dispatch

/// Real time: one monotonic clock and one timer behind every delay of the process.
///
/// Delays are kept in a wheel and driven by a single timer of the system. The timer exists only
/// while a delay is pending (law 10) and up to a tenth of a second longer, so that code which sets
/// and cancels one time limit after the other makes no system call for each. A delay is up to 0.3
/// ms late, and never early (law 7).
public final class SystemTime: TimeSource {
    /// The instance that the process shares.
    public static let shared = SimulationHooks.making { SystemTime() }

    private struct State: ~Copyable {
        var wheel = TimerWheel(now: MonotonicClock.nanoseconds)
        var sequence: UInt64 = 0
        var timer: (any DispatchSourceTimer)?
        /// The instant that the timer is set to.
        var alarm = Int64.max
        var anchor = Anchor.none
    }

    /// A timer of the far future, as long as Dispatch may not have opened its descriptor.
    ///
    /// Dispatch opens that only where it waits for a timer, and not where each is due already. If
    /// no descriptor is left later, it silently fires none. For the anchor it always waits, after
    /// it has fired what is due. So no delay fires before the timer has fired twice: code that a
    /// delay runs may use up the descriptors (law 11).
    private enum Anchor {
        case none
        case set(any DispatchSourceTimer)
        case firedOnce(any DispatchSourceTimer)
    }

    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "ExecutionContexts.SystemTime", qos: .userInteractive)

    package init() {}

    public var now: ContextInstant { Self.now }

    /// The present instant, for callers that know their time and have not retained it.
    package static var now: ContextInstant {
        ContextInstant(nanoseconds: MonotonicClock.nanoseconds)
    }

    public func add(_ delay: DelayedWork, tolerance: Duration) {
        SimulationHooks.willSubmitOutside(to: "the system's time")
        DispatchStart.requireTimers()
        let grain = Self.grain(tolerance)
        state.withLock { state in
            if grain > 0 {
                // Rounded up to a common grid, delays with a tolerance share wake-ups.
                let rounded =
                    unsafe delay.deadlineNanoseconds.addingSaturating(grain - 1) & ~(grain - 1)
                // Near the end of time there is no next point of the grid, and the last one would
                // be early.
                unsafe delay.deadlineNanoseconds = max(rounded, delay.deadlineNanoseconds)
            }
            state.sequence += 1
            unsafe delay.sequence = state.sequence
            let wake = state.wheel.add(delay)
            if wake < state.alarm { setAlarm(wake, &state) }
        }
    }

    public func remove(_ delay: DelayedWork) {
        state.withLock { state in
            guard state.wheel.remove(delay), state.wheel.count == 0 else { return }
            let soon = MonotonicClock.nanoseconds + 100_000_000
            if soon < state.alarm { setAlarm(soon, &state) }
        }
    }

    /// Whether the caller runs on the thread that fires all delays, where no job may run (law 7).
    package static var isFiring: Bool { unsafe Frame.isCurrent(Frame.owner(shared)) }

    /// Whether the process holds no timer of the system now; for tests of law 10.
    package var isIdle: Bool { state.withLock { $0.timer == nil } }

    /// Fires the due delays, in the order of `(deadline, submission)`; always on `queue`, one call
    /// at a time.
    private func fireDue() {
        var due: [TimerNode] = []
        state.withLock { state in
            if mustFireAgain(&state) { return setAlarm(0, &state) }
            state.wheel.turn(to: MonotonicClock.nanoseconds, into: &due)
            state.alarm = .max
            if let next = state.wheel.nextWake {
                setAlarm(next, &state)
            } else {
                state.timer?.cancel()
                state.timer = nil
            }
        }
        // Outside the lock: firing calls contexts, which may run foreign code (law 9).
        unsafe Frame.enter(Frame.owner(self)) {
            for delay in due.map({ $0.take() }).sortedByDeadline() { delay.fire() }
        }
    }

    /// Notes that the timer has fired; true if it must once more before any delay does. The caller
    /// holds the lock.
    private func mustFireAgain(_ state: inout State) -> Bool {
        switch state.anchor {
        case .none: return false
        case .set(let timer):
            state.anchor = .firedOnce(timer)
            return true
        case .firedOnce(let timer):
            timer.cancel()
            state.anchor = .none
            DispatchStart.didTime()
            return false
        }
    }

    /// Sets the system's timer. The caller holds the lock, so that the earliest alarm of two
    /// threads stands.
    private func setAlarm(_ moment: Int64, _ state: inout State) {
        state.alarm = moment
        let deadline = DispatchTime(uptimeNanoseconds: UInt64(max(moment, 1)))
        if let timer = state.timer {
            timer.schedule(deadline: deadline, leeway: .nanoseconds(0))
        } else {
            if DispatchStart.needsTimer, case .none = state.anchor {
                let anchor = DispatchSource.makeTimerSource(queue: queue)
                // Three years. For the end of time Dispatch would not wait.
                anchor.schedule(deadline: .now() + .seconds(100_000_000))
                anchor.activate()
                state.anchor = .set(anchor)
            }
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.setEventHandler { self.fireDue() }
            timer.schedule(deadline: deadline, leeway: .nanoseconds(0))
            timer.activate()
            state.timer = timer
        }
    }

    /// The largest power of two within the tolerance, or 0 where it is below a tick.
    private static func grain(_ tolerance: Duration) -> Int64 {
        guard tolerance > .zero else { return 0 }
        let nanoseconds = tolerance.saturatedNanoseconds
        if nanoseconds < 1 << TimerWheel.tickShift { return 0 }
        // A grid beyond 78 hours would share no more wake-ups.
        return 1 << min(63 - Int64(nanoseconds.leadingZeroBitCount), 48)
    }

    /// Real time, or the simulation's time where the calling thread is simulated.
    static var ofCaller: any TimeSource {
        guard SimulationHooks.isAnywhere,
            let simulation = SimulationHooks.current as? any TimedSimulation
        else { return shared }
        return simulation.time
    }
}

extension [DelayedWork] {
    /// The delays in the order of `(deadline, submission)`; mostly they are in it already.
    package func sortedByDeadline() -> [DelayedWork] {
        func precedes(_ left: DelayedWork, _ right: DelayedWork) -> Bool {
            unsafe left.deadlineNanoseconds != right.deadlineNanoseconds
                ? left.deadlineNanoseconds < right.deadlineNanoseconds
                : left.sequence < right.sequence
        }
        let isSorted = zip(self, dropFirst()).allSatisfy { !precedes($1, $0) }
        return isSorted ? self : sorted(by: precedes)
    }
}

/// A simulation in which delays and time limits are those of the simulation, too.
package protocol TimedSimulation: Simulation {
    /// The time source that replaces real time.
    var time: any TimeSource { get }
}
