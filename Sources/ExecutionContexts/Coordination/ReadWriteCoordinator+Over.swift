internal import CPlatform
internal import Synchronization

extension ReadWriteCoordinator {
    /// Makes a coordinator over a context that has barriers: reads are jobs of it, writes are
    /// barriers.
    ///
    /// Use it for state that jobs on a queue of yours use as well: those jobs count as reads, the
    /// barriers of the queue as writes. A read costs what `sync` of the context costs. The nesting
    /// rules hold (law 18). A waiting thread runs no writes itself. A call with a time limit runs
    /// its body on a thread of the context, and with a limit of zero it begins only inside an
    /// access that is under way.
    public convenience init(name: String? = nil, over context: some SynchronousBarrierContext) {
        self.init(ReadWriteCore(name: name ?? context.name, writeContext: context, over: context))
    }
}

/// A coordinator over a context: the context excludes, and the marks say which thread is inside.
extension ReadWriteCore {
    func read<Value, Failure: Error>(
        over context: any SynchronousBarrierContext, until deadline: Int64,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        if isInside { return try body() }
        guard deadline == Parker.never else {
            return try TimedHandOff.run(until: deadline, { context.execute($0) }) {
                () throws(Failure) in
                try markingRead(body)
            }
        }
        return try context.sync { () throws(Failure) in try markingRead(body) }
    }

    func write<Value, Failure: Error>(
        over context: any SynchronousBarrierContext, until deadline: Int64,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        if isInsideWrite { return try body() }
        unsafe refuseWriteInsideRead(Threads.current)
        guard deadline == Parker.never else {
            return try TimedHandOff.run(until: deadline, { context.executeBarrier($0) }) {
                () throws(Failure) in
                try markingWrite(body)
            }
        }
        return try context.syncBarrier { () throws(Failure) in try markingWrite(body) }
    }

    /// Marks the thread as reading, for the checks of nested calls.
    func markingRead<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        let thread = unsafe Threads.current
        let slot = unsafe ReaderSlots.push(thread)
        unsafe slot.pointee.store(announcement | 1, ordering: .releasing)  // As in `enter`.
        defer {
            unsafe slot.pointee.store(0, ordering: .releasing)
            unsafe ReaderSlots.pop(thread)
        }
        return try body()
    }

    /// Marks the thread as writing; the context excludes all others.
    func markingWrite<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        // Relaxed: only the thread itself looks for its own number.
        unsafe writer.pointee.store(Threads.current.pointee.identifier, ordering: .relaxed)
        defer { unsafe writer.pointee.store(0, ordering: .relaxed) }
        return try body()
    }
}
