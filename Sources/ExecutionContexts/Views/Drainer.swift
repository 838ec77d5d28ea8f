internal import CPlatform
internal import Dispatch

/// Base class of views and coordinators that queue jobs, and run them when their base runs a drain.
///
/// A class, and not generic: a closure that captures one object only needs no allocation, and a
/// view requests a drain often. The queue and its flags are the subclass's.
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
        // It runs jobs that were accepted: a base without room gets it by `enqueue`.
        return (drain.work, { _ in base.enqueue(drain.work) })
    }

    /// Runs `step` as jobs of this view, and again while it needs another drain (returns false) and
    /// the base runs one on the spot.
    final func runDrains(on base: some ExecutionContext, _ step: () -> Bool) {
        // A reliable base runs no drain inside a request for it.
        if !isBaseReliable, acceptsOffer() { return }
        // The jobs are of several submitters: none sees the deadline of the thread (law 38).
        Deadline.without {
            unsafe Frame.enterJobs(of: identity) {
                while !step(), requestContinuation(on: base) {}
            }
        }
    }

    /// Requests another drain, from inside one; true if it came at once, inside this call.
    ///
    /// 1. The drain sets `offered` in its own frame, on its own stack: the next drain, which may
    ///    already run on another thread, does not share it.
    /// 2. Most bases run the next drain later. It finds no offer, and the first drain ends.
    /// 3. A base that runs work on the caller runs it inside the request. The new drain finds the
    ///    offer up the stack, sets `accepted` and returns. The first drain continues, so the stack
    ///    does not nest.
    final func requestContinuation(on base: some ExecutionContext) -> Bool {
        let frame = unsafe ec_frame_top().unsafelyUnwrapped
        unsafe frame.pointee.note = Self.offered
        requestDrain(on: base)
        defer { unsafe frame.pointee.note = 0 }
        return unsafe frame.pointee.note == Self.accepted
    }

    /// Whether the drain that begins is the continuation of one further up this stack.
    private final func acceptsOffer() -> Bool {
        guard let outer = unsafe Frame.find(identity), unsafe outer.pointee.note == Self.offered
        else { return false }
        unsafe outer.pointee.note = Self.accepted
        return true
    }

    /// Runs `step`, which drops what waits, and requests another drain if that needs one (returns
    /// true).
    ///
    /// If the base drops it inside the request, `step` runs there, and the first drop, whose frame
    /// is up the stack, requests the next drain. So the stack does not nest, however many jobs
    /// others submit meanwhile.
    final func runDrops(on base: some ExecutionContext, _ step: () -> Bool) {
        guard step() else { return }
        if let outer = unsafe Frame.find(identity), unsafe outer.pointee.note == Self.dropping {
            unsafe outer.pointee.note = Self.requestsAgain
            return
        }
        while requestDrainAfterDrop(on: base) {}
    }

    /// Requests a drain; true if the base has dropped it inside this call, and another one is
    /// needed.
    private final func requestDrainAfterDrop(on base: some ExecutionContext) -> Bool {
        unsafe Frame.enter(identity, note: Self.dropping) {
            requestDrain(on: base)
            return unsafe ec_frame_top().unsafelyUnwrapped.pointee.note == Self.requestsAgain
        }
    }

    private static var offered: Int { 1 }
    private static var accepted: Int { 2 }
    // Three is `Frame.reported`.
    private static var dropping: Int { 4 }
    private static var requestsAgain: Int { 5 }

    /// Requests a drain that does not begin inside this call.
    final func requestDrainLater(on base: some ExecutionContext) {
        base.enqueue(JobSource.carry(.drain(of: drainedName), laterDrain(on: base)))
    }

    private func laterDrain(on base: some ExecutionContext) -> Work {
        let drain = CompletionGuard(Drain(view: self))
        return {
            guard SystemTime.isFiring else { return drain.run() }
            // The base runs work on the caller without saying so: not on the timer's (law 7).
            DispatchQueue.global().async { base.enqueue { drain.run() } }
        }
    }
}

/// One drain, as the base gets it. A base that frees it unused has dropped the drain.
private struct Drain: GuardedJob {
    let view: Drainer

    var source: JobSource { .drain(of: view.drainedName) }

    func run() { view.drain() }

    // What the dropped jobs' captures do is not done for the caller that drops the drain (law 38).
    func drop() { Deadline.without { view.drainWasDropped() } }
}

/// A job in a closure that may be copied: `run` frees it, whatever copies remain (law 10).
final class MovedWork: @unchecked Sendable {
    // Unchecked: `run` is called once, and no other code accesses `work` before.
    private var work: Work?

    init(_ work: consuming @escaping Work) { self.work = consume work }

    func run() throws(Never) { work.take()?() }
}
