internal import Dispatch

/// Runs one job at a time, in order, over any base: what `serial()` returns.
///
/// It has a mailbox and at most one drain owner, which alone may run the view's jobs, or hold the
/// view.
///
/// | `isDrainRequested` | `isOwned` | state |
/// |---|---|---|
/// | false | false | idle: the next submitter requests a drain |
/// | true | false | a drain will come from the base and acquire ownership |
/// | false | true | a drain or a waiter runs jobs, or a thread holds the view |
/// | true | true | a waiter acquired ownership before the drain came |
///
/// A waiter may acquire ownership before the drain comes, so a pool without a free thread delays no
/// waiter. A drain that finds the view owned, or no jobs, does nothing.
@safe
public final class SerialView: Drainer, ActorBackingContext, SynchronousBarrierContext,
    @unchecked Sendable  // See below.
{
    // Unchecked: the mailbox is guarded, and its lock guards the wait queue. Only the drain owner
    // accesses the batch. Ownership passes on under that lock or by a waiter's semaphore.

    /// Computed once. The base gets drains, and so cannot bind anything to a job itself (law 8).
    public let submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)?
    public let name: String

    private let mailbox = Guarded(Mailbox())
    /// The jobs that were taken out of the mailbox.
    private let batch: UnsafeMutablePointer<WorkQueue>
    /// The threads that wait for drain ownership.
    private var waitQueue = DrainWaiters()
    private let exclusiveOwner = ExclusiveOwner()
    private let base: any ExecutionContext
    /// Reports the bodies that waiting threads run without the base, to the observers of the base.
    private let report: ContextFacts.Reporting?

    init(base: some ExecutionContext, name: String) {
        self.base = base
        report = base.facts.report
        submissionTransform = base.submissionTransform
        self.name = name
        unsafe batch = .allocate(capacity: 1)
        unsafe batch.initialize(to: WorkQueue())
        super.init(over: base)
    }

    deinit {
        // A drain owner or waiter retains the view. So there is none, and no job is queued.
        unsafe batch.deinitialize(count: 1)
        unsafe batch.deallocate()
    }

    // Disfavored as that of every view: the compiler then prefers the more specific maker.
    @_disfavoredOverload
    public func execute(_ work: consuming @escaping Work) {
        if post(consume work) { requestDrain(on: base) }
    }

    public func enqueue(_ work: consuming @escaping Work) {
        if post(consume work) { requestDrainLater(on: base) }
    }

    /// True in this view's jobs and for its holder, else false; law 4 has the one exception.
    public var isCurrent: Bool? { unsafe Frame.isCurrent(identity) || exclusiveOwner.isMine }

    public var time: any TimeSource { base.time }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.takesSource = report != nil
        facts.hasSystemTime = base.facts.hasSystemTime
        facts.meansThread = base.jobsMeanThread
        facts.forecast = { [self] forecast in
            if isCurrent == true { return forecast.obstacle = name }
            forecast.followUnlessHelped(base)
        }
        facts.runWithoutBase = { [self] work in
            // Marks a drain as requested, but requests none: the base might drop it. The drain
            // below comes in its place, and also in place of one that the base drops.
            _ = post(work)
            DispatchQueue.global().async { self.drain() }
        }
        return facts
    }

    /// Puts a job in the mailbox; true if the caller must request a drain.
    private func post(_ work: consuming @escaping Work) -> Bool {
        // Unmanaged, so that no reference is counted under the lock.
        let work = UnmanagedWork(bound(work))
        let mustRequest: Bool? = mailbox.withLock { mailbox in
            guard !mailbox.hasWaiters else { return nil }
            mailbox.queue.append(work.assembled())
            return mailbox.mustRequestDrain()
        }
        return mustRequest ?? postBehind(work)
    }

    // Not inlined, so that the path of every job stays small enough to be inlined.
    @inline(never)
    private func postBehind(_ work: UnmanagedWork) -> Bool {
        mailbox.withLock { mailbox in
            let work = work.assembled()
            if let last = waitQueue.last {
                last.behind.append(work)
            } else {
                mailbox.queue.append(work)
            }
            return mailbox.mustRequestDrain()
        }
    }

    override var drainedName: String { name }

    override func drain() { runDrains(on: base) { takeOwnership() ? runAsOwner() : true } }

    /// Notes that a requested drain has come; true if it acquires ownership and has a job to run.
    private func takeOwnership() -> Bool {
        var waiter: DrainWaiter?
        let hasWork = mailbox.withLock { mailbox in
            mailbox.isDrainRequested = false
            guard !mailbox.isOwned else { return false }
            mailbox.isOwned = true
            return unsafe !batch.pointee.isEmpty || refill(&mailbox, orWake: &waiter)
        }
        waiter?.wake()
        return hasWork
    }

    /// Runs jobs until none is left, ownership has been passed on, or the budget is spent; false if
    /// another drain must be requested. Requires drain ownership.
    private func runAsOwner() -> Bool {
        var budget = DrainBudget()
        repeat {
            while runNext() {
                guard budget.spend() else { continue }
                if let mustRequest = pause() { return !mustRequest }
                budget = DrainBudget()
            }
        } while refill()
        return true
    }

    /// Runs a job, and frees it before drain ownership can be released (law 10).
    @inline(__always)
    private func runNext() -> Bool {
        guard runAndFreeNext() else { return false }
        Frame.endJob()
        return true
    }

    @inline(__always)
    private func runAndFreeNext() -> Bool {
        guard let work = unsafe batch.pointee.popFirst() else { return false }
        work()
        return true
    }

    private func refill() -> Bool {
        var waiter: DrainWaiter?
        let hasWork = mailbox.withLock { refill(&$0, orWake: &waiter) }
        waiter?.wake()
        return hasWork
    }

    /// Takes the next batch (true), or passes ownership on to the first waiter, or releases it
    /// (false).
    @inline(__always)
    private func refill(_ mailbox: inout Mailbox, orWake waiter: inout DrainWaiter?) -> Bool {
        if unsafe mailbox.queue.moveOnlyJob(to: &batch.pointee) { return true }
        unsafe mailbox.queue.reuse(&batch.pointee)
        guard mailbox.queue.isEmpty else {
            unsafe batch.pointee = mailbox.queue.takeAll()
            return true
        }
        if mailbox.hasWaiters {
            waiter = waitQueue.first
        } else {
            mailbox.isOwned = false
        }
        return false
    }

    override func drainWasDropped() { runDrops(on: base) { dropJobs() } }

    /// Drops all jobs that wait; true if another drain must be requested for later ones.
    private func dropJobs() -> Bool {
        var dropped = WorkQueue()
        var queue = WorkQueue()
        var waitQueue = DrainWaiters()
        let isMine = mailbox.withLock { mailbox in
            mailbox.isDrainRequested = false
            // The drain owner runs the queued jobs.
            guard !mailbox.isOwned else { return false }
            mailbox.isOwned = true
            mailbox.hasWaiters = false
            queue = mailbox.queue.takeAll()
            unsafe swap(&dropped, &batch.pointee)
            swap(&waitQueue, &self.waitQueue)
            return true
        }
        guard isMine else { return false }
        // Freed outside the lock, beside no job: awaiting callers are refused (laws 1, 9, 10).
        unsafe Frame.enterJobs(of: identity) {
            _ = dropped.takeAll()
            _ = queue.takeAll()
            waitQueue.dropAll()
        }
        return passOwnership()
    }
}

/// The jobs that the drain owner has not taken yet.
private struct Mailbox: ~Copyable {
    var queue = WorkQueue()
    /// Whether a drain has been requested from the base and has not come yet.
    var isDrainRequested = false
    /// Whether a thread has drain ownership.
    var isOwned = false
    /// Whether threads wait for drain ownership; then new jobs are queued behind the last of them.
    var hasWaiters = false

    /// Whether the caller must request a drain from the base; records the request.
    @inline(__always)
    mutating func mustRequestDrain() -> Bool {
        guard !isDrainRequested && !isOwned else { return false }
        isDrainRequested = true
        return true
    }
}

// Ownership: how threads that are not drains acquire it and pass it on.
extension SerialView {
    /// Waits until the caller has drain ownership and all jobs submitted before have run.
    private func enter() {
        let isFree = mailbox.withLock { mailbox in
            guard !mailbox.isOwned, !mailbox.hasWaiters, isClear(mailbox) else { return false }
            mailbox.isOwned = true
            return true
        }
        if !isFree {
            unsafe NestedWait.during(for: .init(identity), named: .text(name)) {
                waitForOwnership()
            }
        }
    }

    private func releaseOwnership() {
        if passOwnership() { requestDrain(on: base) }
    }

    /// Releases drain ownership, or passes it on to the first waiter; true if the caller must
    /// request a drain.
    private func passOwnership() -> Bool {
        var waiter: DrainWaiter?
        let mustRequest = mailbox.withLock { mailbox in
            let mustRequest = release(&mailbox)
            // The waiter starts the jobs that are queued before it.
            if mustRequest == nil { waiter = waitQueue.first }
            return mustRequest
        }
        waiter?.wake()
        return mustRequest == true
    }

    /// Releases drain ownership between two jobs, as `release` does. If a thread waits, the drain
    /// continues, and passes ownership on as soon as it can: a request to a pool whose threads all
    /// wait may never be served.
    private func pause() -> Bool? { mailbox.withLock { release(&$0) } }

    /// Releases drain ownership, and returns whether another drain must be requested; nil if the
    /// first waiter is to get the ownership instead.
    @inline(__always)
    private func release(_ mailbox: inout Mailbox) -> Bool? {
        let isClear = isClear(mailbox)
        if mailbox.hasWaiters && (isClear || base.runsAnywhere) { return nil }
        mailbox.isOwned = false
        return !isClear && mailbox.mustRequestDrain()
    }

    private func waitForOwnership() {
        let waiter = DrainWaiter()
        let mayHelp = base.runsAnywhere
        var needsBase = false
        var isOwner = mailbox.withLock { mailbox in
            let isFirst = !mailbox.hasWaiters
            // Another owner may be taking jobs from the batch. Its drain has a thread of the base.
            let isEmpty = mailbox.isOwned ? mailbox.queue.isEmpty : isClear(mailbox)
            needsBase = !mayHelp && (!isEmpty || waitQueue.hasWorkBehind)
            waitQueue.append(waiter)
            mailbox.hasWaiters = true
            // If jobs wait that only the base may run, a drain has been requested and will come.
            guard isFirst, !mailbox.isOwned, mayHelp || isClear(mailbox) else { return false }
            mailbox.isOwned = true
            return true
        }
        while true {
            guard isOwner || waiter.wait(for: base, named: name, needsBase: needsBase) else {
                trapDropped()
            }
            if dequeueIfClear(waiter) { return }
            // The caller has drain ownership, and does not run the jobs before it itself: inside
            // them its queue, actor, task and thread would count as current (law 4). A thread that
            // belongs to no pool runs them.
            let drain: Work = { self.drainBeforeWaiter() }
            if !SimulationHooks.runOnNewThread(drain) {
                LibraryThreads.run(.init(name: name, isIndispensable: true, body: drain))
            }
            isOwner = false
        }
    }

    /// Removes the first waiter from the wait queue if no job is queued before it; true if so.
    private func dequeueIfClear(_ waiter: DrainWaiter) -> Bool {
        mailbox.withLock { mailbox in
            guard isClear(mailbox) else { return false }
            waitQueue.removeFirst()
            mailbox.hasWaiters = waitQueue.first != nil
            swap(&mailbox.queue, &waiter.behind)
            return true
        }
    }

    /// Whether no job is queued before the first waiter. Requires the mailbox's lock, and that no
    /// other thread has drain ownership.
    private func isClear(_ mailbox: borrowing Mailbox) -> Bool {
        unsafe mailbox.queue.isEmpty && batch.pointee.isEmpty
    }

    /// Runs the jobs before the first waiter, and wakes it.
    private func drainBeforeWaiter() {
        unsafe Frame.enterJobs(of: identity) {
            while !runAsOwner(), requestContinuation(on: base) {}
        }
    }
}

extension SerialView {
    /// Waits for `body` to run in order; inside the view's own work it runs at once, as part of it.
    ///
    /// Inside a hold the caller holds once more meanwhile: another thread may release the hold.
    ///
    /// If the base's work may run anywhere, the caller takes the view, so that waiting cannot
    /// exhaust a pool (law 20). Otherwise it waits for its turn on the base. In both cases it runs
    /// the body itself, unless the base means a certain thread (law 4).
    @_disfavoredOverload
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let report else { return try sync(body, body) }
        // First of all: another `sync` would take the source (`takesSource`).
        let source = JobSource.takeOfSync(body)
        return try sync(body) { () throws(Failure) -> Value in
            var result: Result<Value, Failure>?
            report(source) { result = Result(catching: body) }
            // A report runs the body.
            return try result!.get()
        }
    }

    /// Runs `body`; where it takes the place of a job of the base, `reported`, which reports it.
    private func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, _ reported: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if unsafe Frame.isCurrent(identity) { return try body() }
        if exclusiveOwner.isMine, exclusiveOwner.holdAgain() {
            defer { endHold() }
            return try body()
        }
        guard base.runsAnywhere else { return try syncOnBase(body) }
        enter()
        defer { releaseOwnership() }
        return try unsafe Frame.enter(identity, reported)
    }

    /// Gives the caller exclusive access; neither the base nor one of its threads waits meanwhile.
    public func hold() -> ExclusiveHold {
        if !exclusiveOwner.holdAgain() {
            if unsafe Frame.isCurrent(identity) { return .nothing }
            enter()
            exclusiveOwner.begin()
        }
        return ExclusiveHold { self.endHold() }
    }

    private func endHold() { if exclusiveOwner.end() { releaseOwnership() } }

    private func syncOnBase<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let result = unsafe NestedWait.during(for: .init(identity), named: .text(name)) {
            base.jobsMeanThread
                ? AwaitedEnd.result(of: body, from: base, named: name) { execute($0) }
                : CallerTurn.result(of: body, in: self, over: base)
        }
        guard let result else { trapDropped() }
        return try result.get()
    }

    /// Traps because the base dropped a job that the caller waited for.
    private func trapDropped() -> Never {
        if let token = WaitForecast.of(base).invalidated {
            stopMisuse(
                "'\(name)' was waited for, but the token of '\(token)' was invalidated, and nothing starts there any more "
                    + "(law 1). Wait with run or submit, which answer with a refusal.")
        }
        stopMisuse(
            "'\(name)' dropped a job that a thread was waiting for (law 1): its base drops jobs.")
    }
}

/// A thread that waits for drain ownership, and the jobs submitted after it. The drain owner passes
/// the ownership on by waking the first waiter, and does not touch the view after that.
private final class DrainWaiter: @unchecked Sendable {
    // Unchecked: `behind` and `next` are accessed under the mailbox's lock only. `isDropped` is
    // written before `grant` completes and read after it. Only the waiting thread replaces `grant`,
    // at a time when no thread may wake it.
    var behind = WorkQueue()
    var next: DrainWaiter?
    private var isDropped = false
    private var grant = AwaitedEnd()

    /// Waits for the drain ownership; false if the base has dropped its drain. If `base` has to run
    /// jobs before that, the wait traps if it can never end.
    func wait(for base: some ExecutionContext, named name: String, needsBase: Bool) -> Bool {
        // `.atOnce`: other threads may wait for the ownership that this thread has then.
        needsBase ? grant.wait(for: base, named: name, then: .atOnce) : grant.wait(then: .atOnce)
        if isDropped { return false }
        // It may have to wait once more; no thread wakes it before it says so, under the lock.
        grant = AwaitedEnd()
        return true
    }

    func wake() { grant.complete() }

    func drop() {
        isDropped = true
        grant.complete()
    }
}

/// The waiters, in order. Linked, so that adding one allocates nothing under the lock.
private struct DrainWaiters: ~Copyable {
    private(set) var first: DrainWaiter?
    private(set) var last: DrainWaiter?

    mutating func append(_ waiter: DrainWaiter) {
        if let last { last.next = waiter } else { first = waiter }
        last = waiter
    }

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

    mutating func dropAll() {
        while let waiter = first {
            removeFirst()
            waiter.behind = WorkQueue()
            waiter.drop()
        }
    }
}

extension ExecutionContext {
    /// Returns a view of this context that runs one job at a time, in order (law 2).
    ///
    /// The view makes no thread and costs a few words while idle, so make one for each thing that
    /// needs order. It drains jobs in batches, and gives the thread back after 256 jobs or about a
    /// millisecond. If the base drops a drain, the view drops its waiting jobs and continues.
    /// Callers that await the dropped jobs receive a refusal (law 1).
    public func serial(named name: String? = nil) -> SerialView {
        SerialView(base: self, name: name ?? "\(self.name).serial")
    }
}
