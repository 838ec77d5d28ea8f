/// Excludes by a context with barriers: reads are its jobs, writes are its barriers.
///
/// The word stays closed, so no caller takes a fast path. The marks say which thread is inside, for
/// nested calls.
final class BarrierExclusion: ReadWriteExclusion {
    let name: String
    private let context: any SynchronousBarrierContext
    let admission: Admission
    /// The hold of the context, while the coordinator is held. Its lock also guards the count of
    /// the holds.
    private let held = Guarded<ExclusiveHold?>(nil)

    init(name: String, over context: some SynchronousBarrierContext) {
        self.name = name
        self.context = context
        admission = Admission(isClosed: true, name: name)
    }

    deinit { admission.free() }

    var writeContext: any ExecutionContext { context }

    // MARK: Entering

    func enterToRead(_ thread: ThreadRecord, hasAnnounced: Bool, until deadline: Int64)
        -> ReadEntry?
    { .byContext }

    func enterToWrite(_ thread: ThreadRecord, until deadline: Int64) -> WriteEntry { .byContext }

    func admitNext(_ thread: ThreadRecord) {}

    /// Runs a read that enters by the context; nil if it has not begun at `deadline`.
    func read<Value, Failure: Error>(
        until deadline: Int64, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        let thread = unsafe Threads.current
        if unsafe admission.isThreadWriting(thread) || admission.isReading(thread) {
            return try body()
        }
        if holdAgain() {
            defer { endHold() }
            return try body()
        }
        guard deadline == Parker.never else {
            return try TimedHandOff.run(until: deadline, { context.execute($0) }) {
                () throws(Failure) in
                try admission.markingRead(body)
            }
        }
        return try context.sync { () throws(Failure) in try admission.markingRead(body) }
    }

    /// Runs a write that enters by the context; nil if it has not begun at `deadline`.
    func write<Value, Failure: Error>(
        until deadline: Int64, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        let thread = unsafe Threads.current
        if unsafe admission.isThreadWriting(thread) { return try body() }
        if holdAgain() {
            defer { endHold() }
            return try body()
        }
        unsafe refuseWriteInsideRead(thread)
        guard deadline == Parker.never else {
            return try TimedHandOff.run(until: deadline, { context.executeBarrier($0) }) {
                () throws(Failure) in
                try admission.markingWrite(body)
            }
        }
        return try context.syncBarrier { () throws(Failure) in try admission.markingWrite(body) }
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

    // MARK: Submitting

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
