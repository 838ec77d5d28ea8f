internal import Synchronization

extension ExclusiveHold {
    /// A hold by a barrier that occupies one of the context's own threads until the release.
    static func occupying(_ context: some BarrierContext) -> ExclusiveHold {
        let occupation = Occupation.begin(in: context)
        return ExclusiveHold(releasing: occupation.end)
    }
}

/// A barrier that occupies one of a context's threads, and its synchronization with the holder.
///
/// 1. The holder submits the barrier and waits for `answer`.
/// 2. The barrier sets `isUnderWay`, completes `answer` and waits for `release`.
/// 3. The holder calls `end`, which signals `release`. The barrier returns.
///
/// If the context drops the barrier, `ending` completes `answer`, and `isUnderWay` is still false.
final class Occupation: Sendable {
    private let answer = AwaitedEnd()
    private let release = BinarySemaphore()
    private let isUnderWay = Atomic<Bool>(false)

    /// Submits the barrier, and waits until it occupies its thread.
    static func begin(in context: some BarrierContext) -> Occupation {
        let occupation = Occupation()
        context.executeBarrier { [ending = AwaitedEnd.Ending(occupation.answer)] in
            occupation.stay()
            withExtendedLifetime(ending) {}
        }
        // `.atOnce`: with the hold, the caller has something that other threads may wait for.
        occupation.answer.wait(for: context, named: context.name, then: .atOnce)
        require(
            occupation.isUnderWay.load(ordering: .acquiring),
            "'\(context.name)' dropped a job that a thread was waiting for (law 1). "
                + "It must run each job that it is given.")
        return occupation
    }

    func end() { release.signal() }

    /// Occupies the thread of the barrier until `end` is called.
    private func stay() {
        // Releasing here, acquiring in `begin`; the completion of `answer` orders the two as well.
        isUnderWay.store(true, ordering: .releasing)
        answer.complete()
        // `.atOnce`: other threads wait for the barrier to end.
        release.wait(then: .atOnce)
    }
}
