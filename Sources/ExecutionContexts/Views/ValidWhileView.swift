/// A view whose jobs run only while a token is valid.
public struct ValidWhileView<Base: ExecutionContext>: ContextDecorator {
    public let base: Base
    let token: InvalidationToken

    public func decorate(_ work: @escaping Work) -> Work {
        { [token] in if token.isValid { work() } }
    }

    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        let work = JobSource.keep(of: consume work) { answering($0, refused) }
        base.execute(work.assembled(), refused: consume refused)
    }

    private func answering(
        _ work: @escaping Work, _ refused: @escaping @Sendable (Refusal) -> Void
    ) -> Work {
        { [token, refusal] in token.isValid ? work() : refused(refusal) }
    }

    // Whether a job runs at all is decided where it starts.
    public var runsAnywhere: Bool { false }

    public var facts: ContextFacts {
        var view = ViewFacts(of: base)
        view.skipsNow = { [token] in !token.isValid }
        var facts = ContextFacts()
        facts.view = view
        facts.inherit(from: base.facts)
        facts.meansThread = base.jobsMeanThread
        facts.forecast = { [base, token, name] forecast in
            if !token.isValid { forecast.invalidated = name }
            forecast.follow(base)
        }
        return facts
    }

    private var refusal: Refusal { Refusal(.invalidated, by: name) }
}

extension ValidWhileView: RefusingContext {
    public func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        guard token.isValid else { throw refusal }
        // Cast at run time: a conformance has one witness, whatever the base conforms to.
        guard let base = base as? any RefusingContext else { return execute(consume work) }
        let decorated = JobSource.keep(of: consume work) { decorate($0) }
        try base.tryExecute(decorated.assembled())
    }
}

extension ValidWhileView: BarrierContext where Base: BarrierContext {}
extension ValidWhileView: SerialContext where Base: SerialContext {}
extension ValidWhileView: MainActorContext where Base: MainActorContext {}

extension ExecutionContext {
    /// Returns a view of this context that runs jobs only while `token` is valid.
    ///
    /// A job that has not started when the token is invalidated never starts, however it was
    /// submitted. A job of plain `execute` is then dropped when it would have started, on the
    /// context: that is what the token is for. `run` and `submit` resolve with a refusal, and
    /// `tryExecute` throws it (law 1). The order of the other jobs is kept.
    public func valid(while token: InvalidationToken) -> ValidWhileView<Self> {
        ValidWhileView(base: self, token: token)
    }

    /// Returns a view that runs jobs only while `token` is valid, for a stored `any` context.
    @_disfavoredOverload
    public func valid(while token: InvalidationToken) -> any RefusingContext {
        ValidWhileView(base: self, token: token)
    }
}

extension BarrierContext {
    /// Returns a view that runs jobs only while `token` is valid, for a stored `any` context.
    @_disfavoredOverload
    public func valid(while token: InvalidationToken) -> any BarrierContext & RefusingContext {
        ValidWhileView(base: self, token: token)
    }
}

extension SerialContext {
    /// Returns a view that runs jobs only while `token` is valid, for a stored `any` context.
    @_disfavoredOverload
    public func valid(while token: InvalidationToken) -> any SerialContext & RefusingContext {
        ValidWhileView(base: self, token: token)
    }
}

extension MainActorContext {
    /// Returns a view that runs jobs only while `token` is valid, for a stored `any` context.
    @_disfavoredOverload
    public func valid(while token: InvalidationToken) -> any MainActorContext & RefusingContext {
        ValidWhileView(base: self, token: token)
    }
}
