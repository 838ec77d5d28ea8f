internal import ExecutionContexts

/// Where the caller made what sets an alarm: a test that ends while it is pending names that place.
struct SourcePlace: Sendable {
    let fileID: StaticString
    let line: UInt
}

/// The one delay that somebody has set, so that it can be told from an older one and called off at any moment.
///
/// Whoever keeps it compares it with the one that rings: an alarm that was replaced, or taken out, means nothing.
final class Alarm: @unchecked Sendable {
    // Unchecked: `delay` and `isOver` are reached inside the owner's section only.
    private let section: CriticalSection
    private var delay: DelayedWork?
    private var isOver = false

    init(in section: CriticalSection) { self.section = section }

    /// Sets it, outside of the section: a context's time may be anybody's code (law 9).
    ///
    /// - Parameters:
    ///   - rang: called on the context, when it is due.
    ///   - lost: called if the context lets go of the delay.
    func set(
        at deadline: Moment, on context: some ExecutionContext, from place: SourcePlace,
        rang: @escaping @Sendable (Alarm) -> Void,
        lost: @escaping @Sendable (Alarm) -> Void
    ) {
        // What never comes needs no delay, which would keep the alarm and whatever `rang` refers to.
        guard deadline < .never else { return }
        let claim = Claim(self, lost)
        let delay = context.schedule(at: deadline, fileID: place.fileID, line: place.line) {
            if claim.spend() { rang(claim.alarm) }
        }
        let isUnwanted = section.execute {
            if !isOver { self.delay = delay }
            return isOver
        }
        if isUnwanted { delay.cancel() }
    }

    /// Calls it off, outside of the section: what the delay has captured goes with it.
    func cancel() { end()?.cancel() }

    private func end() -> DelayedWork? {
        section.execute {
            isOver = true
            return delay.take()
        }
    }

    /// What the context holds: if it dies unused, the context has let go of the delay, or it was called off.
    private final class Claim: @unchecked Sendable {
        // Unchecked: `isSpent` is written by the one call of the delay's body, and read when nobody else has the claim.
        let alarm: Alarm
        private let lost: @Sendable (Alarm) -> Void
        private var isSpent = false

        init(_ alarm: Alarm, _ lost: @escaping @Sendable (Alarm) -> Void) {
            self.alarm = alarm
            self.lost = lost
        }

        deinit { if !isSpent { lost(alarm) } }

        func spend() -> Bool {
            if isSpent { return false }
            isSpent = true
            _ = alarm.end()
            return true
        }
    }
}
