import Dispatch
import Foundation
import Synchronization

/// Jobs that are submitted together and checked when all have ended.
///
/// Each job must run once, in order, and must be freed.
final class Round: Sendable {
    /// The object that the closure of one job captures. It counts the runs of the job.
    final class Job: Sendable {
        static let alive = Atomic(0)

        private let runs = Atomic(0)
        fileprivate let isCancelled = Atomic(false)

        init() { Self.alive.add(1, ordering: .relaxed) }
        deinit { Self.alive.subtract(1, ordering: .relaxed) }

        fileprivate func ran() -> Int { runs.wrappingAdd(1, ordering: .relaxed).newValue }
        fileprivate var count: Int { runs.load(ordering: .relaxed) }
    }

    /// The seconds that a round waits for its jobs.
    static let patience = 120

    let area: String
    private let group = DispatchGroup()
    private let latest = Atomic(-1)
    private let inside = Atomic(0)
    private let width: Int
    private let isOrdered: Bool

    /// Makes a round of which at most `width` jobs may run at a time, in order if `isOrdered`.
    init(_ area: String, width: Int = .max, isOrdered: Bool = false) {
        self.area = area
        self.width = width
        self.isOrdered = isOrdered
    }

    /// Makes a job that must be run or cancelled once.
    func job(_ number: Int = 0) -> (job: Job, run: @Sendable () -> Void) {
        let job = Job()
        group.enter()
        return (job, { [self] in run(job, number) })
    }

    private func run(_ job: Job, _ number: Int) {
        let now = inside.wrappingAdd(1, ordering: .relaxed).newValue
        if now > width {
            Faults.shared.add(.reordered, "\(area): \(now) inside where \(width) may be")
        }
        if isOrdered {
            let before = latest.exchange(number, ordering: .relaxed)
            if before >= number {
                Faults.shared.add(.reordered, "\(area): \(number) after \(before)")
            }
        }
        let count = job.ran()
        if count > 1 { Faults.shared.add(.doubled, "\(area): job \(number) ran \(count) times") }
        if job.isCancelled.load(ordering: .relaxed) {
            Faults.shared.add(.wrong, "\(area): job \(number) ran after it was cancelled")
        }
        inside.wrappingSubtract(1, ordering: .relaxed)
        if count == 1 { group.leave() }
    }

    /// Records that the job was cancelled and never runs.
    func cancelled(_ job: Job) {
        job.isCancelled.store(true, ordering: .relaxed)
        group.leave()
    }

    /// Expects another event. The event must call the returned closure once.
    func expect(_ what: String) -> @Sendable () -> Void {
        let job = Job()
        group.enter()
        return { [self] in
            let count = job.ran()
            if count > 1 { Faults.shared.add(.doubled, "\(area): \(what)") } else { group.leave() }
        }
    }

    /// Waits until all jobs and events have happened.
    func finish() {
        if group.wait(timeout: .now() + .seconds(Self.patience)) == .timedOut {
            Faults.shared.add(
                .lost, "\(area): a job or an end did not happen in \(Self.patience) s")
        }
    }

    func check(_ isRight: Bool, _ what: @autoclosure () -> String) {
        if !isRight { Faults.shared.add(.wrong, "\(area): \(what())") }
    }
}

/// A generator of random numbers, which a seed determines (SplitMix64).
struct SeededRNG {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0xD1B5_4A32_D192_ED03 }

    /// Returns a number from zero to below `bound`.
    mutating func next(below bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
