internal import CPlatform
internal import Synchronization

extension ReadWriteCoordinator {
    /// Makes a coordinator of a context that has barriers: its reads are the context's work, its writes barriers.
    ///
    /// For state that work on a queue of yours uses as well: that work counts as reading, its barriers as writing. A read
    /// costs what the context's `sync` costs. What this type says of nesting holds (law 18). A thread that waits runs
    /// no writes itself. A call with a time limit runs its body on a thread of the context, and a limit of zero lets it
    /// begin only inside an access that is under way.
    public convenience init(name: String? = nil, over context: some SynchronousBarrierContext) {
        self.init(ReadWriteCore(name: name ?? context.name, carrier: context, over: context))
    }
}

/// The ways of a coordinator over a context: the context excludes, the marks say who is inside.
extension ReadWriteCore {
    func read<Value, Failure: Error>(
        over context: any SynchronousBarrierContext, until deadline: Int64,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        if isInside { return try body() }
        guard deadline == Parker.never else {
            return try Rendezvous.run(until: deadline, { context.execute($0) }) { () throws(Failure) in
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
            return try Rendezvous.run(until: deadline, { context.executeBarrier($0) }) { () throws(Failure) in
                try markingWrite(body)
            }
        }
        return try context.syncBarrier { () throws(Failure) in try markingWrite(body) }
    }

    /// Marks the thread as reading, for those who ask from inside.
    func markingRead<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let thread = unsafe Threads.current
        let slot = unsafe HeldSlots.push(thread)
        unsafe slot.pointee.store(claim | 1, ordering: .releasing)  // As in `enter`.
        defer {
            unsafe slot.pointee.store(0, ordering: .releasing)
            unsafe HeldSlots.pop(thread)
        }
        return try body()
    }

    /// Marks the thread as writing; nobody else is inside.
    func markingWrite<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        // Relaxed: only the thread itself looks for its own number.
        unsafe writer.pointee.store(Threads.current.pointee.identifier, ordering: .relaxed)
        defer { unsafe writer.pointee.store(0, ordering: .relaxed) }
        return try body()
    }
}
