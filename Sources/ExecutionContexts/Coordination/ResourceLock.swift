/// A strategy by which a `LockedResource` separates its accesses (law 30).
///
/// The library's strategies are `.section`, `.coordinator` and `.unlocked`. A strategy of your own
/// says how a read, a write and an enqueued write run:
///
/// ```swift
/// struct Confined: ResourceLock {
///     let context: any SerialContext
///     func read(_ body: () -> Void) { context.preconditionIsCurrent(); body() }
///     func exclusively(_ body: () -> Void) { context.preconditionIsCurrent(); body() }
///     func enqueueWrite(_ work: @escaping Work) { context.execute { exclusively(work) } }
/// }
/// ```
///
/// The resource asks the lock for outermost accesses only: a read inside a read of the same
/// resource on one thread runs without asking again. So a lock need not be re-entrant.
public protocol ResourceLock: Sendable {
    /// Runs `body` once, on the caller and before it returns, with no write beside it.
    func read(_ body: () -> Void)

    /// Runs `body` once, on the caller and before it returns, with no read and no other write
    /// beside it.
    func exclusively(_ body: () -> Void)

    /// Runs `work` once, as a write: after the caller's earlier writes, and never inside another
    /// access.
    func enqueueWrite(_ work: @escaping Work)
}

/// One access at a time, behind a `CriticalSection`.
///
/// Use it for resources that are locked for a short time and changed as often as read. Enqueued
/// writes run on a write context, in the order of their submission. A read sees those that have
/// run. No write is dropped: if the write context refuses or drops one, or would run it inside an
/// access of the same thread, it runs on the global context.
public struct SectionLock: ResourceLock {
    private let section: CriticalSection
    private let writeContext: any ExecutionContext
    private let pending = PendingWrites()

    init(_ section: CriticalSection, _ writeContext: some ExecutionContext) {
        self.section = section
        self.writeContext = writeContext
    }

    public func read(_ body: () -> Void) { section.execute(body) }

    public func exclusively(_ body: () -> Void) { section.execute(body) }

    public func enqueueWrite(_ work: @escaping Work) {
        pending.add(work)
        let next = CompletionGuard(PendingWrites.Next(writes: pending, section: section))
        // A refusal releases the guard, which then runs the write on the global context.
        writeContext.execute({ next.run() }, refused: { _ in })
    }
}

/// Reads beside each other and writes alone, by a `ReadWriteCoordinator`.
///
/// Use it for resources that many threads read. A read sees every write that was enqueued before it
/// (law 17).
public struct CoordinatorLock: ResourceLock {
    let coordinator: ReadWriteCoordinator

    public func read(_ body: () -> Void) { coordinator.read(body) }

    public func exclusively(_ body: () -> Void) { coordinator.blockingWrite(body) }

    public func enqueueWrite(_ work: @escaping Work) { coordinator.enqueueWrite(work) }
}

extension ResourceLock where Self == SectionLock {
    /// One access at a time, behind a section of the resource's own.
    public static var section: SectionLock { section(named: "resource") }

    /// The same, under a name for messages and tools.
    public static func section(named name: String) -> SectionLock {
        section(CriticalSection(name: name))
    }

    /// One access at a time, inside `section`; enqueued writes run on `writeContext`, in order.
    ///
    /// On `.immediate` a write runs at once, unless it is enqueued inside an access. Resources that
    /// share a section can be changed together: `section.execute { one.mutate { ... }; two.mutate {
    /// ... } }`.
    public static func section(
        _ section: CriticalSection, writesOn writeContext: some ExecutionContext = GlobalContext()
    ) -> SectionLock { SectionLock(section, writeContext) }
}

extension ResourceLock where Self == CoordinatorLock {
    /// Reads beside each other and writes alone, by a coordinator of the resource's own.
    public static var coordinator: CoordinatorLock { coordinator(named: "resource") }

    /// The same, under a name for messages and tools.
    public static func coordinator(named name: String) -> CoordinatorLock {
        coordinator(ReadWriteCoordinator(name: name))
    }

    /// Reads beside each other and writes alone, by `coordinator`, on its write context.
    public static func coordinator(_ coordinator: ReadWriteCoordinator) -> CoordinatorLock {
        CoordinatorLock(coordinator: coordinator)
    }
}

/// No lock: two threads that access the resource at the same time are a programming error, which
/// traps.
///
/// Use it for a resource that only one thread or one serial context uses. No caller ever waits, and
/// a data race traps with a message. Enqueued writes run at once, or when the access under way
/// ends.
public struct UnlockedAccess: ResourceLock {
    /// Never waited for.
    private let section = CriticalSection(name: "unlocked resource")
    private let later = PendingWrites()

    public func read(_ body: () -> Void) { access(body) }

    public func exclusively(_ body: () -> Void) { access(body) }

    public func enqueueWrite(_ work: @escaping Work) {
        later.add(work)
        if section.isCurrent == false { access {} }
    }

    private func access(_ body: () -> Void) {
        // The outermost access of this thread runs what was enqueued, and not one inside it.
        if section.isCurrent == true { return body() }
        let isAlone: Void? = section.execute(timeout: .zero) {
            body()
            while let work = later.next() { work() }
        }
        require(
            isAlone != nil,
            "An unlocked resource is used by two threads at the same time (law 30). Make it with a lock, "
                + "as 'lockedBy: .section', or use it from one serial context.")
    }
}

extension ResourceLock where Self == UnlockedAccess {
    /// No lock: two threads at the same time trap, and no caller ever waits.
    public static var unlocked: UnlockedAccess { UnlockedAccess() }
}

/// Enqueued writes that have not run, in the order of their submission.
final class PendingWrites: Sendable {
    private let queue = Guarded(WorkQueue())

    func add(_ write: @escaping Work) { queue.withLock { $0.append(write) } }

    func next() -> Work? { queue.withLock { $0.popFirst() } }

    /// Runs the oldest write inside `section`, but never inside an access of this thread (law 18).
    func runNext(in section: CriticalSection) {
        if section.isCurrent == true {
            GlobalContext().execute { self.runNext(in: section) }
        } else {
            // Of another caller than the one whose thread runs it (law 38).
            Deadline.without { section.execute { () throws(Never) -> Void in next()?() } }
        }
    }

    /// The right to run one write, which a job on the write context uses.
    ///
    /// If the write context refuses or drops that job, the write runs on the global context.
    struct Next: GuardedJob {
        let writes: PendingWrites
        let section: CriticalSection

        func run() { writes.runNext(in: section) }

        func drop() { GlobalContext().execute { [writes, section] in writes.runNext(in: section) } }
    }
}
