/// A context that can run work with nothing beside it.
///
/// Work submitted before a barrier finishes before it starts, nothing runs beside it, and work submitted
/// after it starts after it ends (law 3). Delayed work counts as submitted when it is due. The global
/// contexts cannot keep this and do not have the method; `barrier()` makes a view of them that has.
public protocol BarrierContext: ExecutionContext {
    /// Runs `work` once, after everything submitted before it and before everything after (law 3).
    func executeBarrier(_ work: consuming @escaping Work)
}

/// A context that runs one piece of work at a time, in the order of submission (law 2).
///
/// Work submitted earlier *happens before* work submitted later, memory effects included. Every piece is a
/// barrier, so a serial context is a barrier context. It may refuse or drop work, as a bounded view of it does, and
/// say so in its type; one that does neither is an ``ActorBackingContext``.
public protocol SerialContext: BarrierContext {}

/// A serial context that runs each job it is given: the kind of context that can back an actor (law 13).
///
/// A job of an actor cannot be refused: there is nowhere else to run it. So a view that may refuse or drop work, such
/// as `bounded` or `while(token)`, never conforms, also when its type is erased, and `serialExecutor` does not exist
/// for it. Conform a serial context of your own if its `execute` runs whatever it is given:
///
/// ```swift
/// struct LoopContext: ActorBackingContext {
///     let queue: DispatchQueue
///     func execute(_ work: @escaping Work) { queue.async(execute: work) }
/// }
/// ```
public protocol ActorBackingContext: SerialContext {}

extension SerialContext {
    public func executeBarrier(_ work: consuming @escaping Work) { execute(consume work) }
}

/// A context that a caller can wait on: `sync` returns when the body has run.
///
/// A body that is submitted from within the context's own work runs at once where that is safe.
/// Where it would wait for itself the program stops (law 27); on a dispatch queue that another
/// queue's `sync` hides, the system does it.
///
/// A body that another thread runs is inside of whatever the waiting thread is inside of (law 4).
public protocol SynchronousContext: ExecutionContext {
    /// Runs `body` on this context and returns what it returns, when it has.
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value
}

/// A context that a caller can wait on with nothing beside the caller's body.
///
/// What a `Transaction` needs: `sync` for those who read, `syncBarrier` and `hold` for those who change.
public protocol SynchronousBarrierContext: BarrierContext, SynchronousContext {
    /// Runs `body` with nothing beside it and returns what it returns, when it has (law 3).
    ///
    /// From within the context's own exclusive work it runs at once. From within work that is not exclusive it would
    /// wait for that work, and the program stops with a sentence.
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value

    /// Waits until all work submitted before has ended, and keeps the context to the caller until the release.
    ///
    /// It is `syncBarrier` for code that cannot stand in a closure, such as a `_modify` accessor.
    /// The holder may go on using the context: its `sync`, `syncBarrier` and `hold` run at once.
    /// The holder is the task that called; outside of tasks, the job of a context of this library;
    /// outside of both, the thread. A block that somebody gave to a dispatch queue counts as its
    /// thread. The release may come on any thread, also after the holder has ended; until then
    /// nothing is inside.
    ///
    /// From within the context's own exclusive work it is exclusive already, and nothing is held. The default keeps
    /// one of the context's threads busy for as long as it holds, and the holder cannot hold twice.
    func hold() -> ExclusiveHold
}

extension SynchronousBarrierContext {
    public func hold() -> ExclusiveHold {
        if isCurrent == true {
            // Whether its own work is exclusive only a serial context can say of itself.
            if self is any SerialContext { return .nothing }
            stopMisuse(
                "'\(name)' was to be held from within its own work, and would wait for that work to end (law 3). "
                    + "Submit what is to be exclusive with executeBarrier instead.")
        }
        return .occupying(self)
    }
}

extension SynchronousBarrierContext where Self: SerialContext {
    /// Runs `body` with nothing beside it; on a serial context this is `sync`.
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try sync(body)
    }
}

/// A context that may refuse work, and says so in its type (law 1).
///
/// `tryExecute` throws where there is no room. Plain `execute` follows the context's stated policy, and
/// `run` and `submit` resolve with the refusal. What comes by `enqueue` has been accepted already - a delay that is
/// due, the next turn of a view - and is not refused.
public protocol RefusingContext: ExecutionContext {
    /// Submits `work`, or throws the reason why it will never run.
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal)
}

extension RefusingContext {
    /// Submits `work` by `tryExecute`, and calls `refused` with what that throws.
    ///
    /// Write your own where work may also be dropped after it was accepted, and call `refused` then, too.
    public func execute(_ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        do throws(Refusal) { try tryExecute(consume work) } catch { refused(error) }
    }
}
