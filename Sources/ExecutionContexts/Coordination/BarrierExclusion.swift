/// Excludes by a context with barriers: reads are its jobs, writes are its barriers.
///
/// The word stays closed, so no caller takes a fast path. The marks serve nested calls.
final class BarrierExclusion: ReadWriteExclusion {
    let name: String
    private let context: any SynchronousBarrierContext
    let admission: Admission
    /// The hold of the context, while the coordinator is held. Its lock also guards their count.
    private let held = Guarded<ExclusiveHold?>(nil)

    init(name: String, over context: some SynchronousBarrierContext) {
        self.name = name
        self.context = context
        admission = Admission(isClosed: true, name: name)
    }

    deinit { admission.free() }

    var writeContext: any ExecutionContext { context }

    func enterToRead(_ thread: ThreadRecord, hasAnnounced: Bool, until deadline: Int64)
        -> AccessEntry?
    { .byContext }

    func enterToWrite(_ thread: ThreadRecord, until deadline: Int64) -> AccessEntry? { .byContext }

    func admitNext(_ thread: ThreadRecord) {}

    /// Runs a read or a write that enters by the context; nil if it has not begun at `deadline`.
    func run<Value, Failure: Error>(
        writes: Bool, until deadline: Int64, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        let thread = unsafe Threads.current
        if unsafe admission.isThreadWriting(thread) || !writes && admission.isReading(thread) {
            return try body()
        }
        if holdAgain() {
            defer { endHold() }
            return try body()
        }
        func marked() throws(Failure) -> Value {
            try writes ? admission.markingWrite(body) : admission.markingRead(body)
        }
        if writes { unsafe refuseWriteInsideRead(thread) }
        if deadline == Parker.never {
            return try writes ? context.syncBarrier(marked) : context.sync(marked)
        }
        return try TimedHandOff.run(
            until: deadline, { writes ? context.executeBarrier($0) : context.execute($0) }, marked)
    }

    /// The context excludes other callers, until the last hold of the owner ends.
    func hold() -> ExclusiveHold {
        if !holdAgain() {
            let thread = unsafe Threads.current
            if unsafe admission.isThreadWriting(thread) { return .nothing }
            unsafe refuseWriteInsideRead(thread)
            var hold = Optional(context.hold())
            held.withLock { held in
                held = hold.take()
                unsafe admission.holdOwner.pointee.begin()
            }
            // The mark stays after the hold: without the count it means nothing.
            admission.markHeld()
        }
        return ExclusiveHold(releasing: endHold)
    }

    /// Under the lock: another thread may end a hold of the same owner.
    private func holdAgain() -> Bool {
        guard admission.isHolding else { return false }
        return held.withLock { _ in unsafe admission.holdOwner.pointee.holdAgain() }
    }

    /// The count is lowered first, while the context still excludes other callers.
    private func endHold() {
        var last: Holder?
        let hold = held.withLock { held -> ExclusiveHold? in
            last = unsafe admission.holdOwner.pointee.withdraw()
            return last == nil ? nil : held.take()
        }
        last?.release()
        hold?.release()
    }

    func enqueueWrite(_ write: consuming @escaping Work, later: Bool) {
        let write = MovedWork(consume write)
        context.executeBarrier { self.admission.markingWrite(write.run) }
    }

    func enqueueRead(_ read: consuming @escaping Work) {
        let read = MovedWork(consume read)
        context.enqueue { self.admission.markingRead(read.run) }
    }

    /// A write is a barrier: it waits for each job of the context.
    func foreseeWrite(_ forecast: inout WaitForecast) {
        if context.isCurrent == true { return forecast.obstacle = context.name }
        forecast.follow(context)
    }
}

/// A body that another thread runs while the caller waits, unless the caller gives up first.
///
/// | the decision is made by | the body |
/// |---|---|
/// | the thread that runs it | runs; the caller waits for its end |
/// | the caller at its deadline, or the context that drops the job | never runs |
private final class TimedHandOff: GuardedJob, @unchecked Sendable {
    // Unchecked: the thread that makes the decision owns `body`, and clears it.
    private let decision = Decision()
    private var body: (() -> Void)?
    private let end = BinarySemaphore()
    /// The caller that waits: the body runs on its behalf.
    private let caller = Caller.current

    /// Runs `body` as a job given to `submit`; nil if it has not begun at `deadline`.
    static func run<Value, Failure: Error>(
        until deadline: Int64, _ submit: (_ work: @escaping Work) -> Void,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        if deadline == .min { return nil }
        // The other thread writes it before it signals, and the caller reads it after the wait.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { body in
            let handOff = TimedHandOff(body)
            submit { [job = CompletionGuard(handOff)] in job.run() }
            handOff.wait(until: deadline)
        }
        return try unsafe result?.get()
    }

    private init(_ body: @escaping () -> Void) { self.body = body }

    func run() {
        guard decision.make() else { return }
        // Released before the end is signalled: the body must not outlive the caller's wait.
        if let body = body.take() { caller.run(body) }
        end.signal()
    }

    private func wait(until deadline: Int64) {
        if end.wait(until: deadline) { return }
        if decision.make() { body = nil } else { end.wait() }
    }

    func drop() {
        guard decision.make() else { return }
        body = nil
        end.signal()
    }
}
