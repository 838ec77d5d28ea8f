/// A context whose work runs only while a token is valid.
struct While<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    let token: InvalidationToken

    func decorate(_ work: @escaping Work) -> Work {
        { [token] in if token.isValid { work() } }
    }

    func execute(_ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        let work = LooseWork(answering(consume work, refused))
        base.execute(work.assembled(), refused: refused)
    }

    private func answering(
        _ work: @escaping Work, _ refused: @escaping @Sendable (Refusal) -> Void
    ) -> Work {
        { [token, refusal] in token.isValid ? work() : refused(refusal) }
    }

    // Whether work runs at all is decided where it starts.
    var runsAnywhere: Bool { false }

    func foresee(_ outlook: inout Outlook) {
        if !token.isValid { outlook.invalidated = name }
        outlook.follow(base)
    }

    private var refusal: Refusal { Refusal(.invalidated, by: name) }
}

/// A view that skips work by what it adds to it.
protocol SkippingView: ContextDecorator {
    /// Whether it would skip what is submitted now.
    var skipsNow: Bool { get }
}

extension While: SkippingView {
    var skipsNow: Bool { !token.isValid }
}
extension While: ForeseeingContext {}
extension While: RefusingContext {
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        guard token.isValid else { throw refusal }
        // Asked at run time: a conformance has one witness, whatever more is known of the base.
        guard let base = base as? any RefusingContext else { return execute(consume work) }
        let decorated = LooseWork(decorate(consume work))
        try base.tryExecute(decorated.assembled())
    }
}

extension While: BarrierContext where Base: BarrierContext {}
extension While: SerialContext where Base: SerialContext {}

extension ExecutionContext {
    /// This context for as long as `token` is valid.
    ///
    /// What has not started when the token is invalidated never starts, whichever way it was submitted. Plain
    /// `execute` then lets go of the work in its turn, on the context: that is what the token is for. `run` and
    /// `submit` resolve with a refusal, and `tryExecute` throws it (law 1).
    public func `while`(_ token: InvalidationToken) -> some RefusingContext {
        While(base: self, token: token)
    }
}

extension BarrierContext {
    /// This context for as long as `token` is valid.
    ///
    /// A barrier that is not wanted any more is skipped; the order of the others is kept.
    public func `while`(_ token: InvalidationToken) -> some BarrierContext & RefusingContext {
        While(base: self, token: token)
    }
}

extension SerialContext {
    /// This context for as long as `token` is valid.
    ///
    /// Work that is not wanted any more is skipped; the order of the rest is kept.
    public func `while`(_ token: InvalidationToken) -> some SerialContext & RefusingContext {
        While(base: self, token: token)
    }
}
