internal import ExecutionContexts

/// The state machine of a debounce or a throttle. It is used under a lock and runs nothing.
struct DebounceMachine {
    enum Policy {
        /// Each call restarts the quiet period.
        case quiet(Duration)
        /// A call outside a window opens one.
        case windows(Duration, Throttling)
    }

    /// What the caller performs after unlocking.
    struct Effects {
        /// The action with its value, to run.
        var work: Work?
        /// The alarm to set, and its deadline.
        var alarm: (Alarm, ContextInstant)?
        /// The alarm to cancel.
        var oldAlarm: Alarm?
        /// A job that will not run, to free outside the lock.
        var dropped: Work?
    }

    private let policy: Policy
    private var kept: Work?
    /// The earliest time of the next action: the end of the quiet period or of the window.
    private var due: ContextInstant?
    private var alarm: Alarm?

    init(_ policy: Policy) { self.policy = policy }

    var isPending: Bool { kept != nil }

    mutating func call(_ work: @escaping Work, at now: ContextInstant, in section: CriticalSection)
        -> Effects
    {
        switch policy {
        case .quiet(let interval):
            // A caller may read the clock before another caller, and take the lock after it.
            due = max(due ?? now, now.advanced(by: interval))
            return keep(work, in: section)
        case .windows(let interval, let choice):
            let isOpen = due.map { now < $0 } ?? false
            if isOpen || kept != nil {
                if choice == .first { return Effects(dropped: work) }
                return keep(work, in: section)
            }
            due = now.advanced(by: interval)
            return choice == .latest ? keep(work, in: section) : Effects(work: work)
        }
    }

    /// Handles a due alarm. Only the latest alarm has an effect.
    mutating func alarmFired(_ alarm: Alarm, at now: ContextInstant, in section: CriticalSection)
        -> Effects
    {
        guard end(alarm), kept != nil, let due else { return Effects() }
        guard now >= due else { return setAlarm(at: due, in: section) }
        return deliver(at: now, opensWindow: true)
    }

    mutating func flush(at now: ContextInstant) -> Effects {
        var effects = kept == nil ? Effects() : deliver(at: now, opensWindow: false)
        effects.oldAlarm = alarm.take()
        return effects
    }

    /// Drops the kept job.
    mutating func cancel() -> Effects {
        Effects(oldAlarm: alarm.take(), dropped: kept.take())
    }

    /// Handles an alarm that the context dropped: the job that waits for it is dropped too.
    mutating func alarmDropped(_ alarm: Alarm) -> Effects { end(alarm) ? cancel() : Effects() }

    private mutating func end(_ alarm: Alarm) -> Bool {
        guard self.alarm === alarm else { return false }
        self.alarm = nil
        return true
    }

    private mutating func deliver(at now: ContextInstant, opensWindow: Bool) -> Effects {
        let work = kept.take()
        switch policy {
        case .quiet: due = nil
        // With `latest` the alarm's action opens no window. Every other action opens the next one.
        case .windows(let interval, let choice):
            due = choice == .latest && opensWindow ? nil : now.advanced(by: interval)
        }
        return Effects(work: work)
    }

    private mutating func keep(_ work: @escaping Work, in section: CriticalSection) -> Effects {
        let old = kept.take()
        kept = work
        var effects = alarm == nil ? setAlarm(at: due!, in: section) : Effects()
        effects.dropped = old
        return effects
    }

    private mutating func setAlarm(at instant: ContextInstant, in section: CriticalSection)
        -> Effects
    {
        let alarm = Alarm(in: section)
        self.alarm = alarm
        return Effects(alarm: (alarm, instant))
    }
}
