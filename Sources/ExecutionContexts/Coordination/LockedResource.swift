/// A value that is reached only inside a closure, under the lock it was made with (law 30).
///
/// ```swift
/// let birds = LockedResource(["robin"], lockedBy: .coordinator)
/// birds.mutate { $0.append("wren") }
/// birds.enqueueWrite { $0.sort() }
/// let count = birds.read { $0.count }
/// ```
///
/// A read is equivalent to the lock's read around the closure, a write to the lock's write around
/// it. The lock decides which accesses run beside each other, and which writes a read sees: see
/// `ResourceLock`.
///
/// - Escaping: no property returns the value. A value put in is *sent*, and is the caller's no
///   longer. The result of a write is `Sendable`, and a closure that lets part of a value that is
///   not `Sendable` escape does not compile. Only a `Sendable` resource can be read, since reads
///   may run beside each other; others are written.
/// - Errors: a closure that throws releases the lock and keeps the changes made so far. To change
///   all or nothing, change a copy and assign it last.
/// - Nesting: a read inside a read runs at once and sees the same. Inside a write the closure's own
///   parameter is the only way to the value: a nested read or write would overlap with it. A write
///   inside a read would change what the read looks at (law 18). These trap with a message, under
///   every lock. An enqueued write inside either runs after it.
/// - Lifetime: pending writes keep the value until they have run.
///
/// It is not for async code, whose accesses would hold the lock across an `await`; use an actor.
/// Other callers may write between a read and a write: do both in one write.
@safe
public final class LockedResource<Resource: ~Copyable>: Sendable {
    @usableFromInline let lock: any ResourceLock
    // Unsafe in name only: the lock guards the value, and overlapping accesses trap.
    @usableFromInline nonisolated(unsafe) let value: UnsafeMutablePointer<Resource>

    /// Puts `resource` behind `lock`; it may be of any type, and is the caller's no longer.
    public init(_ resource: consuming sending Resource, lockedBy lock: some ResourceLock) {
        self.lock = lock
        unsafe value = UnsafeMutablePointer.allocate(capacity: 1)
        unsafe value.initialize(to: resource)
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    /// Runs `body` on the caller with the value, alone, and returns its value or throws its error.
    @inlinable
    public func mutate<Value: Sendable, Failure: Error>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: (inout sending Resource) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var outcome: Result<Value, Failure>?
        unsafe ResourceAccess.run(self, at: value, behind: lock, writes: true, fileID, line) {
            do throws(Failure) {
                outcome = .success(try unsafe body(&value.pointee))
            } catch {
                outcome = .failure(error)
            }
        }
        // The call above returns only if it has run its closure.
        return try unsafe outcome.unsafelyUnwrapped.get()
    }

    /// Runs `body` with the value, alone, after the caller's earlier writes, outside every access.
    ///
    /// The lock decides when and where: `.section` and `.coordinator` have a write context for it,
    /// `.unlocked` runs it at once if it can.
    public func enqueueWrite(_ body: @escaping @Sendable (inout sending Resource) -> Void) {
        lock.enqueueWrite { [self] in
            unsafe ResourceAccess.runEnqueued(self, at: value, behind: lock) {
                unsafe body(&value.pointee)
            }
        }
    }
}

extension LockedResource where Resource: Sendable & ~Copyable {
    /// Runs `body` on the caller with the value, beside other reads if the lock allows it.
    ///
    /// It returns the value of `body` or throws its error. For a resource that is not `Sendable`,
    /// use `mutate`.
    @inlinable
    public func read<Value, Failure: Error>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: (borrowing Resource) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var outcome: Result<Value, Failure>?
        unsafe ResourceAccess.run(self, at: value, behind: lock, writes: false, fileID, line) {
            do throws(Failure) {
                outcome = .success(try unsafe body(value.pointee))
            } catch {
                outcome = .failure(error)
            }
        }
        // The call above returns only if it has run its closure.
        return try unsafe outcome.unsafelyUnwrapped.get()
    }
}

/// One access to a locked resource of any type: the lock runs it, and the frame marks it.
///
/// Not generic: another module would run generic code unspecialized, at ten times the cost.
@usableFromInline
enum ResourceAccess {
    /// Runs `body` once, as a write or a read; a read inside a read of the same resource at once.
    ///
    /// Never inlined: the caller keeps `resource` until the end, also where `body` does not return.
    @inline(never) @usableFromInline
    static func run(
        _ resource: AnyObject, at value: UnsafeRawPointer, behind lock: any ResourceLock,
        writes: Bool, _ fileID: StaticString, _ line: UInt, _ body: () -> Void
    ) {
        // Two addresses that no other object has: the marks of an access.
        let (reading, writing) = unsafe (Frame.owner(resource), value)
        require(
            unsafe !Frame.isCurrent(writing),
            "\(fileID):\(line): \(writes ? "a write" : "a read") inside a write of the same resource would "
                + "overlap with it (law 30). Use the value that the outer closure has; pass it on as an inout parameter."
        )
        let isReading = unsafe Frame.isCurrent(reading)
        if isReading, !writes { return body() }
        require(
            !isReading,
            "\(fileID):\(line): a write inside a read of the same resource would change what the read "
                + "looks at (law 18). Use enqueueWrite, which runs later, or do all of it in one write."
        )
        var hasRun = false
        if writes {
            lock.exclusively { unsafe run(once: &hasRun, as: writing, behind: lock, body) }
        } else {
            lock.read { unsafe run(once: &hasRun, as: reading, behind: lock, body) }
        }
        require(
            hasRun,
            "The lock '\(type(of: lock))' returned without having run the access it was given (law 30). "
                + "Run each body once before returning.")
    }

    /// Runs an enqueued write, which the lock has called.
    static func runEnqueued(
        _ resource: AnyObject, at value: UnsafeRawPointer, behind lock: any ResourceLock,
        _ body: () -> Void
    ) {
        require(
            unsafe !Frame.isCurrent(Frame.owner(resource)) && !Frame.isCurrent(value),
            "The lock '\(type(of: lock))' ran an enqueued write inside another access (law 18). Run it later."
        )
        unsafe Frame.enter(value, body)
    }

    private static func run(
        once hasRun: inout Bool, as mark: Frame.Owner, behind lock: any ResourceLock,
        _ body: () -> Void
    ) {
        require(
            !hasRun,
            "The lock '\(type(of: lock))' ran one access twice (law 30). Run each body once.")
        unsafe Frame.enter(mark, body)
        hasRun = true
    }
}

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
/// The resource calls the lock for outermost accesses only, and not for a read inside a read of the
/// same resource on one thread. So a lock need not be re-entrant.
public protocol ResourceLock: Sendable {
    /// Runs `body` once, on the caller and before it returns, with no write beside it.
    func read(_ body: () -> Void)

    /// Runs `body` once, on the caller and before it returns, with no other access beside it.
    func exclusively(_ body: () -> Void)

    /// Runs `work` once, as a write: after the caller's earlier writes, outside every access.
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
/// Use it for resources that many threads read. A read sees each write enqueued before it (law 17).
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

/// No lock: two threads that access the resource at the same time trap.
///
/// Use it for a resource of one thread or one serial context. No caller ever waits, and a data race
/// traps with a message. Enqueued writes run at once, or when the access under way ends.
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
private final class PendingWrites: Sendable {
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
