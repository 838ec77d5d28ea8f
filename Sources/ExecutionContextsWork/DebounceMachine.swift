internal import ExecutionContexts

/// What a debounce or a throttle knows, and what it decides: a state machine, for under a lock, that runs nothing.
struct DebounceMachine {
    enum Policy {
        /// Each call begins the wait anew.
        case quiet(Duration)
        /// A call that finds no window begins one.
        case windows(Duration, Throttling)
    }

    /// What is to be done after unlocking.
    struct Step {
        /// The action with its value, to be run.
        var work: Work?
        /// To be set, for this moment.
        var alarm: (Alarm, Moment)?
        /// To be called off.
        var old: Alarm?
        /// What nobody wants any more, to be freed outside of the lock.
        var dropped: Work?
    }

    private let policy: Policy
    private var kept: Work?
    /// Before this nothing may come: the end of the quiet time, or of the window.
    private var due: Moment?
    private var alarm: Alarm?

    init(_ policy: Policy) { self.policy = policy }

    var isPending: Bool { kept != nil }

    mutating func call(_ work: @escaping Work, at now: Moment, in section: CriticalSection) -> Step {
        switch policy {
        case .quiet(let interval):
            // A caller may have looked at the clock before another one, and come after it.
            due = max(due ?? now, now.advanced(by: interval))
            return keep(work, in: section)
        case .windows(let interval, let choice):
            let isOpen = due.map { now < $0 } ?? false
            if isOpen || kept != nil {
                if choice == .first { return Step(dropped: work) }
                return keep(work, in: section)
            }
            due = now.advanced(by: interval)
            return choice == .latest ? keep(work, in: section) : Step(work: work)
        }
    }

    /// The alarm is due; only the one that was set last counts.
    mutating func ring(_ alarm: Alarm, at now: Moment, in section: CriticalSection) -> Step {
        guard end(alarm), kept != nil, let due else { return Step() }
        guard now >= due else { return setAlarm(at: due, in: section) }
        return deliver(at: now, opensWindow: true)
    }

    mutating func flush(at now: Moment) -> Step {
        var step = kept == nil ? Step() : deliver(at: now, opensWindow: false)
        step.old = alarm.take()
        return step
    }

    /// Forgets what waits.
    mutating func cancel() -> Step {
        Step(old: alarm.take(), dropped: kept.take())
    }

    /// The context has let go of the alarm, and what waited for it is lost.
    mutating func lose(_ alarm: Alarm) -> Step { end(alarm) ? cancel() : Step() }

    private mutating func end(_ alarm: Alarm) -> Bool {
        guard self.alarm === alarm else { return false }
        self.alarm = nil
        return true
    }

    private mutating func deliver(at now: Moment, opensWindow: Bool) -> Step {
        let work = kept.take()
        switch policy {
        case .quiet: due = nil
        // The last of one window is the first thing in the next, unless each window ends with its own.
        case .windows(let interval, let choice):
            due = choice == .latest && opensWindow ? nil : now.advanced(by: interval)
        }
        return Step(work: work)
    }

    private mutating func keep(_ work: @escaping Work, in section: CriticalSection) -> Step {
        let old = kept.take()
        kept = work
        var step = alarm == nil ? setAlarm(at: due!, in: section) : Step()
        step.dropped = old
        return step
    }

    private mutating func setAlarm(at moment: Moment, in section: CriticalSection) -> Step {
        let alarm = Alarm(in: section)
        self.alarm = alarm
        return Step(alarm: (alarm, moment))
    }
}
