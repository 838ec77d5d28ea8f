internal import Synchronization

extension ExclusiveHold {
    /// A hold by a barrier that stays on one of the context's own threads until the release.
    static func occupying(_ context: some BarrierContext) -> ExclusiveHold {
        let occupation = Occupation()
        context.executeBarrier { [end = End(occupation)] in end.occupation.stay() }
        require(
            occupation.hasBegun(),
            "'\(context.name)' let go of work that a thread was waiting for (law 1): it loses work.")
        return ExclusiveHold(releasing: occupation.leave)
    }
}

/// What the holder and the barrier that stays say to each other.
private final class Occupation: Sendable {
    private let answer = Beacon()
    private let release = Beacon()
    private let isUnderWay = Atomic<Bool>(false)

    /// Called by the barrier.
    func stay() {
        // Releasing, and acquiring below; the beacon orders the two as well.
        isUnderWay.store(true, ordering: .releasing)
        answer.signal()
        release.wait()
    }

    func leave() { release.signal() }

    /// Waits until the barrier stays (true) or is never going to.
    func hasBegun() -> Bool {
        answer.wait()
        return isUnderWay.load(ordering: .acquiring)
    }

    func isLost() { answer.signal() }
}

/// Dies with the barrier, run or not.
private final class End: Sendable {
    let occupation: Occupation
    init(_ occupation: Occupation) { self.occupation = occupation }
    deinit { occupation.isLost() }
}
