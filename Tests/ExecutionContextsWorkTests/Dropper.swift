import ExecutionContexts
import ExecutionContextsTesting
import TestSupport

/// A serial context that stops to run its jobs: each way in which a program may come by one.
struct Dropper: Sendable {
    enum Way: CaseIterable, Sendable {
        /// `valid(while:)` after its invalidation, and views over it.
        case invalidated, named, serial, limited, bounded
        /// An `EndingSerialContext` after its shutdown.
        case ended, endedByBudget
        /// A bounded view without room.
        case full, newest
        /// A context of the program's own: it drops a job while it is submitted, or later.
        case lossy, silent, lossyLater, silentLater
    }

    let context: any SerialContext
    /// From then on it drops or refuses jobs; some ways need no call.
    let spoil: @Sendable () -> Void
    /// Drops the jobs that it keeps, on the calling thread; true if there were any.
    let dropKept: @Sendable () -> Bool
    /// Whether a shutdown is under way: another thread may be dropping its jobs.
    let isEnding: @Sendable () -> Bool

    init(_ way: Way, over base: some SerialContext, seed: UInt64 = 0) {
        let token = InvalidationToken()
        let ending = EndingSerialContext(on: base)
        let end = Box<Async<ShutdownReport>?>(nil)
        let lossy = Lossy(
            base, keeps: way == .lossyLater || way == .silentLater,
            oneIn: way == .lossy || way == .lossyLater ? 3 : 1, seed: seed)
        let valid = base.valid(while: token)
        context =
            switch way {
            case .invalidated: valid
            case .named: valid.named("named")
            case .serial: valid.serial(named: "serial")
            case .limited: valid.limited(to: 1).serial(named: "limited")
            case .bounded: valid.bounded(to: 2, overflow: .refuse)
            case .ended, .endedByBudget: ending
            case .full: base.bounded(to: 1, overflow: .refuse)
            case .newest: base.bounded(to: 1, overflow: .dropOldest(notify: { _ in }))
            case .lossy, .silent, .lossyLater, .silentLater: lossy
            }
        spoil = {
            token.invalidate()
            lossy.spoil()
            if way == .ended || way == .endedByBudget {
                end.value = ending.shutDown(within: way == .ended ? nil : .zero)
            }
        }
        isEnding = { end.value.map { $0.outcome == nil } ?? false }
        dropKept = { lossy.dropKept() }
    }
}

/// Drops one job in so many, once it is spoiled.
private final class Lossy<Base: SerialContext>: SerialContext {
    private let base: Base
    /// Whether it drops a job on another thread, some time after the submission.
    private let keeps: Bool
    private let share: Int
    private let rng: Box<SeededRNG>
    private let isSpoiled = Box(false)
    private let kept = Box<[Work]>([])

    init(_ base: Base, keeps: Bool, oneIn share: Int, seed: UInt64) {
        (self.base, self.keeps, self.share) = (base, keeps, share)
        rng = Box(SeededRNG(seed: seed))
    }

    func spoil() { isSpoiled.value = true }

    func dropKept() -> Bool {
        let jobs = kept.withValue { jobs -> [Work] in
            defer { jobs = [] }
            return jobs
        }
        // Without this an optimized build releases them inside the lock, after their last use.
        withExtendedLifetime(jobs) {}
        return !jobs.isEmpty
    }

    func execute(_ work: @escaping Work) {
        let drops = isSpoiled.value && rng.withValue { $0.next(below: share) } == 0
        if !drops { return base.execute(work) }
        if keeps { kept.withValue { $0.append(work) } }
    }

    var name: String { "lossy" }
    var isCurrent: Bool? { base.isCurrent }
    func checkIsCurrent() -> Bool { base.checkIsCurrent() }
    var time: any TimeSource { base.time }
    var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        base.submissionTransform
    }
}
