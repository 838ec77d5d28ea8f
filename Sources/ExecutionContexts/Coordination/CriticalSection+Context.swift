internal import CPlatform

extension CriticalSection: SynchronousContext {
    // Disfavored: a plain `execute { }` is the generic one, whose body may change its captures.
    @_disfavoredOverload
    public func execute(_ work: @escaping Work) { execute { () throws(Never) -> Void in work() } }

    /// Runs `work` inside the section on the global queue, never on the caller inside the call.
    public func enqueue(_ work: consuming @escaping Work) {
        let work = MovedWork(consume work)
        GlobalContext().execute { self.execute(work.run) }
    }

    /// The same as `execute`: runs `body` on the caller, inside the section.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try execute(body) }

    /// Whether the calling thread is inside; never unknown.
    public var isCurrent: Bool? { unsafe lock.isHeld(by: Threads.current) }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.meansThread = false
        return facts
    }
}
