internal import ExecutionContexts

/// The shared state of a debounce or a throttle, which performs the machine's effects after
/// unlocking (law 9).
///
/// Its alarm keeps it alive.
final class DebounceCore: @unchecked Sendable {
    // Unchecked: `machine` is accessed inside `section` only.
    private let base: any ExecutionContext
    private let place: CodePlace
    private let section: CriticalSection
    private var machine: DebounceMachine

    init(
        on base: some ExecutionContext, _ policy: DebounceMachine.Policy,
        from place: CodePlace
    ) {
        self.base = base
        self.place = place
        section = CriticalSection(name: "paced calls on \(base.name)")
        machine = DebounceMachine(policy)
    }

    var isPending: Bool { section.execute { machine.isPending } }

    func call(_ work: @escaping Work) {
        let now = base.time.now
        let work = bound(work)
        perform(section.execute { machine.call(work, at: now, in: section) })
    }

    /// Binds the caller's context values to the job now, since another call may have set the delay.
    private func bound(_ work: @escaping Work) -> Work {
        guard let submissionTransform = base.submissionTransform else { return work }
        return submissionTransform(work)
    }

    func flush() -> Bool {
        let now = base.time.now
        let effects = section.execute { machine.flush(at: now) }
        perform(effects)
        return effects.work != nil
    }

    func cancel() -> Bool {
        let effects = section.execute { machine.cancel() }
        perform(effects)
        return effects.dropped != nil
    }

    private func perform(_ effects: DebounceMachine.Effects) {
        effects.oldAlarm?.cancel()
        if let (alarm, instant) = effects.alarm { set(alarm, at: instant, on: base) }
        guard let work = effects.work else { return }
        base.execute(JobSource.carry(JobSource(place), work))
    }

    private func set(_ alarm: Alarm, at instant: ContextInstant, on base: some ExecutionContext) {
        alarm.set(
            at: instant, on: base, from: place, fired: { self.alarmFired($0) },
            dropped: { alarm in
                self.perform(self.section.execute { self.machine.alarmDropped(alarm) })
            })
    }

    /// Handles the alarm, on the context: runs the kept job here, or sets the alarm again.
    private func alarmFired(_ alarm: Alarm) {
        let now = base.time.now
        let effects = section.execute { machine.alarmFired(alarm, at: now, in: section) }
        if let (alarm, instant) = effects.alarm { set(alarm, at: instant, on: base) }
        effects.work?()
    }
}
