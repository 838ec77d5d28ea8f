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
/// It is not for async code, whose accesses would hold the lock across an `await`; use an actor. It
/// does not combine accesses: between a read and a write, other callers may write. Do both in one
/// write.
@safe
public final class LockedResource<Resource: ~Copyable>: Sendable {
    @usableFromInline let lock: any ResourceLock
    // Unsafe in name only: the value is reached under the lock, and overlapping accesses are
    // refused.
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
        unsafe ResourceAccess.write(self, at: value, behind: lock, fileID, line) {
            do throws(Failure) {
                outcome = .success(try unsafe body(&value.pointee))
            } catch {
                outcome = .failure(error)
            }
        }
        // The call above returns only if it has run its closure.
        return try unsafe outcome.unsafelyUnwrapped.get()
    }

    /// Runs `body` with the value, alone, after the caller's earlier writes and outside every
    /// access.
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
        unsafe ResourceAccess.read(self, at: value, behind: lock, fileID, line) {
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

/// One access to a locked resource, whatever the resource's type: it asks the lock, and marks the
/// access.
///
/// Not generic: code of another module would run the generic code unspecialized, at ten times the
/// cost.
@usableFromInline
enum ResourceAccess {
    /// The resource's marks: two addresses that no other object has.
    @safe struct Marks {
        let reading: Frame.Owner
        let writing: Frame.Owner

        /// The marks of `resource`, whose value is at `value`.
        init(of resource: AnyObject, at value: UnsafeRawPointer) {
            unsafe (reading, writing) = unsafe (Frame.owner(resource), value)
        }

        var isReading: Bool { unsafe Frame.isCurrent(reading) }
        var isWriting: Bool { unsafe Frame.isCurrent(writing) }
    }

    /// Runs `body` once, as a write.
    ///
    /// Never inlined: the caller keeps `resource` for as long as this call lasts, also where `body`
    /// does not return.
    @inline(never) @usableFromInline
    static func write(
        _ resource: AnyObject, at value: UnsafeRawPointer, behind lock: any ResourceLock,
        _ fileID: StaticString, _ line: UInt, _ body: () -> Void
    ) {
        let marks = unsafe Marks(of: resource, at: value)
        refuse("a write", inside: marks, fileID, line)
        require(
            !marks.isReading,
            "\(fileID):\(line): a write inside a read of the same resource would change what the read "
                + "looks at (law 18). Use enqueueWrite, which runs later, or do all of it in one write."
        )
        var hasRun = false
        lock.exclusively {
            unsafe run(once: &hasRun, as: marks.writing, behind: lock, body)
        }
        requireRun(hasRun, lock)
    }

    /// Runs `body` once, as a read; inside a read of the same resource at once.
    ///
    /// Never inlined, for the same reason.
    @inline(never) @usableFromInline
    static func read(
        _ resource: AnyObject, at value: UnsafeRawPointer, behind lock: any ResourceLock,
        _ fileID: StaticString, _ line: UInt, _ body: () -> Void
    ) {
        let marks = unsafe Marks(of: resource, at: value)
        refuse("a read", inside: marks, fileID, line)
        if marks.isReading { return body() }
        var hasRun = false
        lock.read {
            unsafe run(once: &hasRun, as: marks.reading, behind: lock, body)
        }
        requireRun(hasRun, lock)
    }

    /// Runs an enqueued write, which the lock has called.
    static func runEnqueued(
        _ resource: AnyObject, at value: UnsafeRawPointer, behind lock: any ResourceLock,
        _ body: () -> Void
    ) {
        let marks = unsafe Marks(of: resource, at: value)
        require(
            !marks.isReading && !marks.isWriting,
            "The lock '\(type(of: lock))' ran an enqueued write inside another access (law 18). Run it later."
        )
        unsafe Frame.enter(marks.writing, body)
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

    private static func requireRun(_ hasRun: Bool, _ lock: any ResourceLock) {
        require(
            hasRun,
            "The lock '\(type(of: lock))' returned without having run the access it was given (law 30). "
                + "Run each body once before returning.")
    }

    private static func refuse(
        _ access: String, inside marks: Marks, _ fileID: StaticString, _ line: UInt
    ) {
        require(
            !marks.isWriting,
            "\(fileID):\(line): \(access) inside a write of the same resource would overlap with it "
                + "(law 30). Use the value that the outer closure has; pass it on as an inout parameter."
        )
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
