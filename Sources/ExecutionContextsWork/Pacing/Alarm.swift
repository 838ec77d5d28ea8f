internal import ExecutionContexts

/// One pending delay, which its owner can cancel at any moment and distinguish from an older one.
///
/// The owner keeps one alarm and compares it with the one that fires. An alarm that the owner has
/// replaced or cancelled has no effect.
final class Alarm: @unchecked Sendable {
    // Unchecked: `delay` and `isOver` are accessed inside the owner's section only.
    private let section: CriticalSection
    private var delay: DelayedWork?
    private var isOver = false

    init(in section: CriticalSection) { self.section = section }

    /// Schedules the delay. Call it outside the section, since a context's time may run user code
    /// (law 9).
    ///
    /// - Parameters:
    ///   - place: where a caller created the object that sets the alarm, for a test that ends
    ///     meanwhile.
    ///   - fired: called on the context when the delay is due.
    ///   - dropped: called if the context drops the delay.
    func set(
        at deadline: ContextInstant, on context: some ExecutionContext,
        from place: CodePlace,
        fired: @escaping @Sendable (Alarm) -> Void,
        dropped: @escaping @Sendable (Alarm) -> Void
    ) {
        // A deadline of `.never` needs no delay, which would keep the alarm and the captures of
        // `fired` alive.
        guard deadline < .never else { return }
        let completion = CompletionGuard(DelayedJob(alarm: self, fired: fired, dropped: dropped))
        let delay = context.schedule(at: deadline, from: place) { completion.run() }
        let isUnwanted = section.execute {
            if !isOver { self.delay = delay }
            return isOver
        }
        if isUnwanted { delay.cancel() }
    }

    /// Cancels the delay, outside the section, which frees what the delay captured.
    func cancel() { end()?.cancel() }

    private func end() -> DelayedWork? {
        section.execute {
            isOver = true
            return delay.take()
        }
    }

    /// The job of the delay. It is dropped if the context drops the delay, or the owner cancels it.
    private struct DelayedJob: GuardedJob {
        let alarm: Alarm
        let fired: @Sendable (Alarm) -> Void
        let dropped: @Sendable (Alarm) -> Void

        func run() {
            _ = alarm.end()
            fired(alarm)
        }

        func drop() { dropped(alarm) }
    }
}
