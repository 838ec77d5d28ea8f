/// A view whose jobs run only while a token is valid.
@usableFromInline
struct ValidWhile<Base: ExecutionContext>: ContextDecorator {
    @usableFromInline
    let base: Base
    let token: InvalidationToken

    @usableFromInline
    init(base: Base, token: InvalidationToken) {
        self.base = base
        self.token = token
    }

    @usableFromInline
    func decorate(_ work: @escaping Work) -> Work {
        { [token] in if token.isValid { work() } }
    }

    @usableFromInline
    func execute(
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
    @usableFromInline
    var runsAnywhere: Bool { false }

    func foresee(_ forecast: inout WaitForecast) {
        if !token.isValid { forecast.invalidated = name }
        forecast.follow(base)
    }

    private var refusal: Refusal { Refusal(.invalidated, by: name) }
}

/// A view that skips jobs, depending on its state when they start.
protocol SkippingView: ContextDecorator {
    /// Whether it would skip a job that starts at this moment.
    var skipsNow: Bool { get }
}

extension ValidWhile: SkippingView {
    var skipsNow: Bool { !token.isValid }
}
extension ValidWhile: ForecastingContext {}
extension ValidWhile: ThreadMeaningContext {}
extension ValidWhile: RefusingContext {
    @usableFromInline
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        guard token.isValid else { throw refusal }
        // Cast at run time: a conformance has one witness, even if more is known of the base.
        guard let base = base as? any RefusingContext else { return execute(consume work) }
        let decorated = JobSource.keep(of: consume work) { decorate($0) }
        try base.tryExecute(decorated.assembled())
    }
}

extension ValidWhile: BarrierContext where Base: BarrierContext {}
extension ValidWhile: SerialContext where Base: SerialContext {}
extension ValidWhile: MainActorContext where Base: MainActorContext {}

extension ExecutionContext {
    /// Returns a view of this context that runs jobs only while `token` is valid.
    ///
    /// A job that has not started when the token is invalidated never starts, however it was
    /// submitted. A job of plain `execute` is then dropped when it would have started, on the
    /// context: that is what the token is for. `run` and `submit` resolve with a refusal, and
    /// `tryExecute` throws it (law 1).
    @inlinable
    public func valid(while token: InvalidationToken) -> some RefusingContext {
        ValidWhile(base: self, token: token)
    }
}

extension BarrierContext {
    /// Returns a view of this context that runs jobs only while `token` is valid.
    ///
    /// A barrier of an invalid token is skipped. The order of the other jobs is kept.
    @inlinable
    public func valid(while token: InvalidationToken) -> some BarrierContext & RefusingContext {
        ValidWhile(base: self, token: token)
    }
}

extension SerialContext {
    /// Returns a view of this context that runs jobs only while `token` is valid.
    ///
    /// A job of an invalid token is skipped. The order of the other jobs is kept.
    @inlinable
    public func valid(while token: InvalidationToken) -> some SerialContext & RefusingContext {
        ValidWhile(base: self, token: token)
    }
}

extension MainActorContext {
    /// Returns a view of this context that runs jobs only while `token` is valid.
    ///
    /// A job of an invalid token is skipped. The order of the other jobs is kept.
    @inlinable
    public func valid(while token: InvalidationToken) -> some MainActorContext & RefusingContext {
        ValidWhile(base: self, token: token)
    }
}
