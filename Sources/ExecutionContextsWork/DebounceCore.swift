internal import ExecutionContexts

/// What a debounce or a throttle needs, kept alive by its alarm: it does what the machine says, after unlocking (law 9).
final class DebounceCore: @unchecked Sendable {
    // Unchecked: `machine` is reached inside `section` only.
    private let base: any ExecutionContext
    private let place: SourcePlace
    private let section: CriticalSection
    private var machine: DebounceMachine

    init(on base: some ExecutionContext, _ policy: DebounceMachine.Policy, from place: SourcePlace) {
        self.base = base
        self.place = place
        section = CriticalSection(name: "calls that wait for \(base.name)")
        machine = DebounceMachine(policy)
    }

    var isPending: Bool { section.execute { machine.isPending } }

    func call(_ work: @escaping Work) {
        let now = base.time.now
        let work = bound(work)
        take(section.execute { machine.call(work, at: now, in: section) })
    }

    /// The delay was set by another call, perhaps: what this one needs of its caller is bound to it now.
    private func bound(_ work: @escaping Work) -> Work {
        guard let binding = base.binding else { return work }
        return binding(work)
    }

    func flush() -> Bool {
        let now = base.time.now
        let step = section.execute { machine.flush(at: now) }
        take(step)
        return step.work != nil
    }

    func cancel() -> Bool {
        let step = section.execute { machine.cancel() }
        take(step)
        return step.dropped != nil
    }

    private func take(_ step: DebounceMachine.Step) {
        step.old?.cancel()
        if let (alarm, moment) = step.alarm { set(alarm, at: moment, on: base) }
        if let work = step.work { base.execute(work) }
    }

    private func set(_ alarm: Alarm, at moment: Moment, on base: some ExecutionContext) {
        alarm.set(
            at: moment, on: base, from: place, rang: { self.ring($0) },
            lost: { alarm in self.take(self.section.execute { self.machine.lose(alarm) }) })
    }

    /// On the context, when the alarm is due: what waited runs here, or goes on waiting.
    private func ring(_ alarm: Alarm) {
        let now = base.time.now
        let step = section.execute { machine.ring(alarm, at: now, in: section) }
        if let (alarm, moment) = step.alarm { set(alarm, at: moment, on: base) }
        step.work?()
    }
}
