internal import CPlatform
internal import Dispatch

/// The base class of what queues jobs, and drains them when its base runs the drain: of views and
/// coordinators. The queue is the subclass's, and so are its flags.
///
/// A class, and not generic: a closure that captures one object only needs no allocation, and a
/// view requests a drain often.
@_documentation(visibility: internal)
public class Drainer: @unchecked Sendable {  // See below.
    // Unchecked because the class is inherited from; its own state is constant, and each subclass
    // says how it guards the rest.

    /// Whether the base needs no guard; looked up once.
    private let isBaseReliable: Bool

    init(over base: some ExecutionContext) { isBaseReliable = base.facts.isReliable }

    /// Runs queued jobs until the budget is spent.
    func drain() { fatalError("A subclass of Drainer must override drain().") }

    /// Called when the base has dropped a drain: the jobs that waited for it are dropped.
    func drainWasDropped() { fatalError("A subclass of Drainer must override drainWasDropped().") }

    /// The name of the view, for observers of its drains.
    var drainedName: String { fatalError("A subclass of Drainer must override drainedName.") }

    final var identity: Frame.Owner { unsafe Frame.owner(self) }

    /// Requests a thread of the base to drain on.
    final func requestDrain(on base: some ExecutionContext) {
        // A simulation drops the jobs of a schedule that fails.
        if isBaseReliable && !SimulationHooks.isAnywhere { return base.execute { self.drain() } }
        let (drain, refused) = drainClosures(on: base)
        base.execute(consume drain, refused: consume refused)
    }

    // A function of its own: the closures alone keep the guard (`CompletionGuard.closures`).
    private func drainClosures(
        on base: some ExecutionContext
    ) -> (drain: Work, refused: @Sendable (Refusal) -> Void) {
        let drain = CompletionGuard(Drain(view: self))
        // A drain runs jobs that were accepted: a base that has no room for it gets it by
        // `enqueue`.
        return (drain.work, { _ in base.enqueue(drain.work) })
    }

    /// Runs `step` with the thread marked as this view's, and again while it needs another drain
    /// (returns false) and the base runs one on the spot.
    final func runDrains(on base: some ExecutionContext, _ step: () -> Bool) {
        // A reliable base runs no drain inside a request for it.
        if !isBaseReliable, unsafe DrainContinuation.accept(identity) { return }
        // The jobs are of several submitters: none sees the deadline of the thread (law 38).
        Deadline.without {
            unsafe Frame.enterJobs(of: identity) {
                while !step(), requestContinuation(on: base) {}
            }
        }
    }

    /// Requests another drain, from inside one; true if it came at once, inside this call.
    final func requestContinuation(on base: some ExecutionContext) -> Bool {
        unsafe DrainContinuation.offer(by: ec_frame_top().unsafelyUnwrapped) {
            requestDrain(on: base)
        }
    }

    /// Requests a drain that does not begin inside this call.
    final func requestDrainLater(on base: some ExecutionContext) {
        base.enqueue(JobSource.carry(.drain(of: drainedName), laterDrain(on: base)))
    }

    private func laterDrain(on base: some ExecutionContext) -> Work {
        let drain = CompletionGuard(Drain(view: self))
        return {
            guard SystemTime.isFiring else { return drain.run() }
            // The base runs work on the caller and does not say so: not on the timer's thread (law
            // 7).
            DispatchQueue.global().async { base.enqueue { drain.run() } }
        }
    }
}

/// One drain, as the base gets it. A base that frees it unused has dropped the drain.
private struct Drain: GuardedJob {
    let view: Drainer

    var source: JobSource { .drain(of: view.drainedName) }

    func run() { view.drain() }

    func drop() { view.drainWasDropped() }
}

/// How a drain that has spent its budget continues, on a base that runs work on the caller.
///
/// 1. The drain sets `offered` in its own frame, and requests another drain from the base.
/// 2. Most bases run that drain later, on some thread. It finds no offer, and the first drain ends.
/// 3. A base that runs work on the caller runs it at once, inside the request. The new drain finds
///    the offer up the stack, sets `accepted` and returns. The first drain continues, so the stack
///    does not nest.
///
/// The offer is in the first drain's frame, on its own stack. So it is not shared with the next
/// drain, which may already run on another thread.
private enum DrainContinuation {
    private static let offered = 1
    private static let accepted = 2

    /// Calls `request`; true if the new drain came inside this call, and the caller must continue.
    static func offer(by frame: UnsafeMutablePointer<ec_frame>, request: () -> Void) -> Bool {
        unsafe frame.pointee.note = offered
        request()
        let isAccepted = unsafe frame.pointee.note == accepted
        unsafe frame.pointee.note = 0
        return isAccepted
    }

    /// Whether the drain that begins belongs to a drain of the same view further up this stack.
    static func accept(_ owner: Frame.Owner) -> Bool {
        guard let outer = unsafe Frame.find(owner), unsafe outer.pointee.note == offered else {
            return false
        }
        unsafe outer.pointee.note = accepted
        return true
    }
}

/// A thread that waits for the drain ownership of a serial view, and the jobs submitted after it.
///
/// The drain owner passes the ownership on by waking the first waiter, and does not touch the view
/// after that.
final class DrainWaiter: @unchecked Sendable {
    // Unchecked: `behind` and `next` are accessed under the lock of the view's mailbox only.
    // `isDropped` is written before `grant` completes and read after it. Only the waiting thread
    // replaces `grant`, at a time when no thread may wake it.
    var behind = WorkQueue()
    fileprivate(set) var next: DrainWaiter?
    private var isDropped = false
    private var grant = AwaitedEnd()

    /// Waits for the drain ownership; false if the view's base has dropped its drain.
    ///
    /// If `base` has to run jobs before that, the wait traps if it can never end.
    func wait(for base: some ExecutionContext, named name: String, needsBase: Bool) -> Bool {
        // `.atOnce`: other threads may wait for the ownership that this thread has then.
        needsBase ? grant.wait(for: base, named: name, then: .atOnce) : grant.wait(then: .atOnce)
        if isDropped { return false }
        // The waiter may have to wait once more. No thread wakes it before it has said so, under
        // the mailbox's lock.
        grant = AwaitedEnd()
        return true
    }

    func wake() { grant.complete() }

    fileprivate func drop() {
        isDropped = true
        grant.complete()
    }
}

/// The waiters of one view, in order. Linked, so that adding one allocates nothing under the lock.
struct DrainWaiters: ~Copyable {
    private(set) var first: DrainWaiter?
    private(set) var last: DrainWaiter?

    mutating func append(_ waiter: DrainWaiter) {
        if let last { last.next = waiter } else { first = waiter }
        last = waiter
    }

    /// Whether jobs were submitted after one of the waiters.
    var hasWorkBehind: Bool {
        var next = first
        while let waiter = next {
            if !waiter.behind.isEmpty { return true }
            next = waiter.next
        }
        return false
    }

    mutating func removeFirst() {
        first = first?.next.take()
        if first == nil { last = nil }
    }

    /// Moves all waiters out, to be dropped outside the lock.
    mutating func takeAll() -> DrainWaiters {
        var taken = DrainWaiters()
        swap(&self, &taken)
        return taken
    }

    consuming func drop() {
        while let waiter = first {
            removeFirst()
            waiter.behind = WorkQueue()
            waiter.drop()
        }
    }
}

/// A job inside a closure that may be copied.
///
/// `run` frees the job at once, whatever copies of the closure remain (law 10).
final class MovedWork: @unchecked Sendable {
    // Unchecked: `run` is called once, and no other code accesses `work` before.
    private var work: Work?

    init(_ work: consuming @escaping Work) { self.work = consume work }

    func run() throws(Never) { work.take()?() }
}
