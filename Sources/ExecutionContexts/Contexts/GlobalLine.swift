internal import CPlatform
internal import Dispatch
internal import Synchronization

/// A queue of the system's own.
struct RootQueue: ReliableContext {
    let queue: DispatchQueue
    let quality: DispatchQoS.QoSClass
    private let mark: QueueMark

    fileprivate init(_ quality: DispatchQoS.QoSClass) {
        queue = .global(qos: quality)
        self.quality = quality
        mark = .of(queue)
    }

    func execute(_ work: @escaping Work) { queue.async(execute: work) }

    var isCurrent: Bool? { mark.isCurrent }
}

/// The one queue of jobs before a queue of the system's, and the threads that stand in for those
/// that wait.
///
/// The system has few threads for its queues, and does not know which of them wait for jobs that
/// are still in line. So for each job that waits by the library's means there may be one
/// substitute: a thread of the library's own that drains this line. Either who waits finds the jobs
/// that are in line, or who submits a job finds that somebody waits: both look under the line's
/// lock, after they have said what they do.
final class GlobalLine: Gate<RootQueue>, @unchecked Sendable {
    // Unchecked for the superclass only: everything here is a sendable constant or an atomic.

    /// How many jobs wait.
    private let waiting = Atomic<Int>(0)
    /// How many substitutes there are.
    private let substitutes = Atomic<Int>(0)

    private let lender: GlobalLender

    private init(_ quality: DispatchQoS.QoSClass, _ name: String) {
        lender = GlobalLender()
        super.init(base: RootQueue(quality), width: .max, name: name)
        unsafe lender.line = .passUnretained(self)
    }

    override func drain() { lender.occupy { super.drain() } }

    /// Has a substitute come if jobs are in line, and others wait; for who has submitted one.
    @inline(__always)
    func makeRoomIfShort() {
        // Relaxed: the line's lock orders this and the count of whoever found the line empty.
        if waiting.load(ordering: .relaxed) > 0 { makeRoom() }
    }

    fileprivate func beginWait() {
        waiting.add(1, ordering: .relaxed)  // Relaxed: see above.
        makeRoom()
    }

    fileprivate func endWait() { waiting.subtract(1, ordering: .relaxed) }

    @inline(never)
    private func makeRoom() {
        guard isWaitedFor, takesSubstitute() else { return }
        let hasCome = OwnThreads.run(
            .init(name: name, quality: base.quality.number) { [self] in substitute() })
        if !hasCome { substitutes.subtract(1, ordering: .relaxed) }
    }

    /// Counts one more substitute, if there may be one. Relaxed, all: the line's lock stands
    /// between this and the jobs.
    private func takesSubstitute() -> Bool {
        var count = substitutes.load(ordering: .relaxed)
        while count < waiting.load(ordering: .relaxed) {
            let claim = substitutes.weakCompareExchange(
                expected: count, desired: count + 1, ordering: .relaxed)
            if claim.exchanged { return true }
            count = claim.original
        }
        return false
    }

    /// Drains the line until nothing is in it, or the system's own threads suffice.
    private func substitute() {
        repeat {
            // As many as there may be: each calls the next one.
            makeRoom()
            drain()
            // Sequentially consistent: who submits afterwards finds room for a substitute, or this
            // finds the job.
            substitutes.subtract(1, ordering: .sequentiallyConsistent)
        } while isWaitedFor && takesSubstitute()
    }

    // MARK: - The lines

    static func of(_ quality: DispatchQoS.QoSClass) -> GlobalLine {
        switch quality {
        case .background: background
        case .utility: utility
        case .userInitiated: userInitiated
        case .userInteractive: userInteractive
        default: standard
        }
    }

    private static let background = Seam.making { GlobalLine(.background, "global(background)") }
    private static let utility = Seam.making { GlobalLine(.utility, "global(utility)") }
    private static let standard = Seam.making { GlobalLine(.default, "global") }
    private static let userInitiated = Seam.making { GlobalLine(.userInitiated, "global(userInitiated)") }
    private static let userInteractive = Seam.making {
        GlobalLine(.userInteractive, "global(userInteractive)")
    }
}

/// Lends the threads that drain a line, and tells the line when one of them waits.
@safe private final class GlobalLender: LentThread, @unchecked Sendable {
    // Unchecked: the line is written once, before any thread has the lender. It lives as long as the
    // program.
    fileprivate var line: Unmanaged<GlobalLine>?

    init() { unsafe super.init(for: nil) }

    override func beginWait() { unsafe line?._withUnsafeGuaranteedRef { $0.beginWait() } }

    override func endWait(_ return: Return) { unsafe line?._withUnsafeGuaranteedRef { $0.endWait() } }

    override func beginCall() { beginWait() }

    override func endCall() { endWait(.atOnce) }
}
