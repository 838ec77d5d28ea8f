/// A context that can run work exclusively.
///
/// A barrier starts after all work submitted before it has finished, and no work runs at the same
/// time. Work submitted after it starts after it ends (law 3). Delayed work counts as submitted
/// when it is due. The global contexts cannot keep this and do not have the method. Their view
/// `barrier()` has it.
public protocol BarrierContext: ExecutionContext {
    /// Runs `work` once, after all work submitted before it and before all work submitted after
    /// (law 3).
    func executeBarrier(_ work: consuming @escaping Work)
}

/// A context that runs one job at a time, in the order of submission (law 2).
///
/// Work submitted earlier *happens before* work submitted later, memory effects included. Every job
/// is a barrier, so a serial context is a barrier context. A serial context may refuse or drop
/// work, as a bounded view does, and its type then says so. One that does neither is an
/// ``ActorBackingContext``.
public protocol SerialContext: BarrierContext {}

/// A serial context that runs each job it is given, and so can be the executor of an actor (law
/// 13).
///
/// The context is the executor. An actor that keeps the context keeps its executor:
///
/// ```swift
/// actor Store {
///     private let context: any ActorBackingContext
///     nonisolated var unownedExecutor: UnownedSerialExecutor { context.asUnownedSerialExecutor() }
///     init(on context: some ActorBackingContext) { self.context = context }
/// }
/// ```
///
/// The runtime keeps no executor. So it must be a context that the actor stores, and none that
/// `unownedExecutor` makes anew, such as a view. It is an object: a structure cannot conform.
///
/// Inside the context's jobs `assumeIsolated` on such an actor works. A serial view whose base
/// drops its jobs, as the base of `context.valid(while: token).serial()` may, runs the jobs of its
/// actors on the global context, in their order. Any other context that drops a job of an actor
/// traps with a message: there is nowhere else to run it.
///
/// A job of an actor cannot be refused, because no other context may run it. So a view that may
/// refuse or drop work, such as `bounded` or `valid(while: token)`, never conforms, also when its
/// type is erased. Conform a serial context of your own if its `execute` runs all work that it is
/// given:
///
/// ```swift
/// final class LoopContext: ActorBackingContext {
///     let queue: DispatchQueue
///     init(queue: DispatchQueue) { self.queue = queue }
///     func execute(_ work: @escaping Work) { queue.async(execute: work) }
/// }
/// ```
public protocol ActorBackingContext: SerialContext, SerialExecutor {}

extension SerialContext {
    public func executeBarrier(_ work: consuming @escaping Work) { execute(consume work) }
}

/// A context that a caller can wait on: `sync` returns when the body has run.
///
/// A body that is submitted from inside the context's own work runs at once if that is safe. If it
/// would wait for itself, `sync` traps (law 27). If another queue's `sync` hides that the caller is
/// on a dispatch queue, the system traps.
///
/// The caller runs the body itself, unless the context means a certain thread. A body that runs on
/// another thread is inside of whatever the waiting thread is inside of (law 4).
public protocol SynchronousContext: ExecutionContext {
    /// Runs `body` on this context, waits for it, and returns its value or throws its error.
    // Disfavored, so that on a context of the main actor the overload for its closures wins.
    @_disfavoredOverload
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value
}

/// A context that a caller can wait on, and that can run the caller's body exclusively.
///
/// A `Transaction` needs `sync` for reads, and `syncBarrier` and `hold` for changes.
public protocol SynchronousBarrierContext: BarrierContext, SynchronousContext {
    /// Runs `body` exclusively, waits for it, and returns its value or throws its error (law 3).
    ///
    /// Inside the context's own exclusive work it runs at once. Inside work that is not exclusive
    /// it would wait for that work, and traps.
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value

    /// Waits until all work submitted before has ended, and gives the caller exclusive access.
    ///
    /// It is `syncBarrier` for code that cannot be a closure, such as a `_modify` accessor. The
    /// holder may use the context: its `sync`, `syncBarrier` and `hold` run at once.
    ///
    /// The holder is the task that called. Outside of tasks, it is the job of a context of this
    /// library. Outside of both, it is the thread; a block that was submitted directly to a
    /// dispatch queue counts as its thread. Any thread may release the hold, also after the holder
    /// has ended. Until then no other code is inside.
    ///
    /// Inside the context's own exclusive work the caller already has exclusive access, and the
    /// hold holds nothing. The default occupies one of the context's threads until the release, and
    /// its holder cannot hold twice.
    func hold() -> ExclusiveHold
}

extension SynchronousBarrierContext {
    public func hold() -> ExclusiveHold {
        if isCurrent == true {
            // Only a serial context guarantees that its own work is exclusive.
            if self is any SerialContext { return .nothing }
            stopMisuse(
                "'\(name)' cannot be held from within its own work: the hold would wait for that work to end (law 3). "
                    + "Submit the exclusive work with executeBarrier instead.")
        }
        return .occupying(self)
    }
}

extension SynchronousBarrierContext where Self: SerialContext {
    /// Runs `body` exclusively; on a serial context this is `sync`.
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try sync(body)
    }
}

/// A context that may refuse work, as its type says (law 1).
///
/// `tryExecute` throws if there is no room. Plain `execute` follows the context's stated policy,
/// and `run` and `submit` fail with the refusal. Work that is submitted by `enqueue` was accepted
/// before, such as a delay that is due or the next drain of a view, and is not refused.
public protocol RefusingContext: ExecutionContext {
    /// Submits `work`, or throws the reason why it will never run.
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal)
}

extension RefusingContext {
    /// Submits `work` by `tryExecute`, and calls `refused` with the error that it throws.
    ///
    /// Implement it for a context that may also drop work after accepting it, and call `refused`
    /// then, too.
    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        do throws(Refusal) { try tryExecute(consume work) } catch { refused(error) }
    }
}
