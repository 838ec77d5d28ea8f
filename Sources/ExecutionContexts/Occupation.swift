internal import Synchronization

extension ExclusiveHold {
    /// A hold by a barrier that stays on one of the context's own threads until the release.
    static func occupying(_ context: some BarrierContext) -> ExclusiveHold {
        let occupation = Occupation.begin(in: context)
        return ExclusiveHold(releasing: occupation.end)
    }
}

/// A barrier that stays on one of a context's threads, and what it and the holder say to each
/// other.
final class Occupation: Sendable {
    private let answer = AwaitedEnd()
    private let release = Beacon()
    private let isUnderWay = Atomic<Bool>(false)

    /// Waits until the barrier stays.
    static func begin(in context: some BarrierContext) -> Occupation {
        let occupation = Occupation()
        context.executeBarrier { [end = End(occupation)] in end.occupation.stay() }
        // With the hold, for which others may wait, it goes on at once.
        occupation.answer.wait(for: context, named: context.name, then: .atOnce)
        require(
            occupation.isUnderWay.load(ordering: .acquiring),
            "'\(context.name)' dropped work that a thread was waiting for (law 1): it loses work.")
        return occupation
    }

    func end() { release.signal() }

    /// Called by the barrier.
    private func stay() {
        // Releasing, and acquiring above; the end orders the two as well.
        isUnderWay.store(true, ordering: .releasing)
        answer.come()
        // Others wait for the barrier to end.
        release.wait(then: .atOnce)
    }

    /// Dies with the barrier, run or not.
    private final class End: Sendable {
        let occupation: Occupation
        init(_ occupation: Occupation) { self.occupation = occupation }
        deinit { occupation.answer.come() }
    }
}
