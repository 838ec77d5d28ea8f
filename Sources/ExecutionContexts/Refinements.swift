/// A context that can run work with nothing beside it.
///
/// Work submitted before a barrier finishes before it starts, nothing runs beside it, and work submitted
/// after it starts after it ends (law 3). Delayed work counts as submitted when it is due. The global
/// contexts cannot keep this and do not have the method; `barrier()` makes a view of them that has.
public protocol BarrierContext: ExecutionContext {
    /// Runs `work` once, after everything submitted before it and before everything after (law 3).
    func executeBarrier(_ work: @escaping Work)
}

/// A context that runs one piece of work at a time, in the order of submission (law 2).
///
/// Work submitted earlier *happens before* work submitted later, memory effects included. Every piece is a
/// barrier, so a serial context is a barrier context. Only a serial context can back an actor (law 13).
public protocol SerialContext: BarrierContext {}

extension SerialContext {
    public func executeBarrier(_ work: @escaping Work) { execute(work) }
}

/// A context that a caller can wait on: `sync` returns when the body has run.
///
/// A body that is submitted from within the context's own work runs at once where that is safe. Where it would
/// wait for itself the program stops; on a dispatch queue that another queue's `sync` hides, the system does it.
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
    /// It is `syncBarrier` for code that cannot stand in a closure, such as a `_modify` accessor. The holder - the
    /// task that called or, outside of tasks, the thread - may go on using the context: its `sync`, `syncBarrier`
    /// and `hold` run at once. The release may come on any thread, but before the holder's task or thread ends.
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
    func tryExecute(_ work: @escaping Work) throws(Refusal)
}
