/// Lets the jobs of a view see values that are bound to them: the submitter's, or given ones.
public struct Propagation: HoldableAddition {
    /// Whether the values are the caller's own, so that a waiting thread may run the job itself.
    let bindsCallerValues: Bool
    /// Reads the submitter's values and returns a job that sees them.
    let bind: @Sendable (_ work: @escaping Work) -> Work

    public func decorate(_ work: @escaping Work) -> Work { bind(work) }

    public var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? { bind }

    public var runsAnywhere: Bool { bindsCallerValues }

    public var facts: AdditionFacts {
        var facts = AdditionFacts()
        facts.needsThread = false
        return facts
    }
}

extension ContextAddition where Self == Propagation {
    /// The submitter's values of these task-locals, for the jobs of the context.
    public static func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> Propagation {
        let wraps: [@Sendable (@escaping Work) -> Work] = {
            var wraps: [@Sendable (@escaping Work) -> Work] = []
            for local in repeat each locals { wraps.append(rebinding(local)) }
            return wraps
        }()
        return Propagation(bindsCallerValues: true) { work in wraps.reduce(work) { $1($0) } }
    }
}

extension ExecutionContext {
    /// Returns a view of this context whose jobs see the submitter's values of these task-locals.
    ///
    /// A closure given to a queue sees the default values. A closure given to this view, or to a
    /// view of it, sees the values that the caller of `execute` or `schedule` sees:
    ///
    /// ```swift
    /// let context = GlobalContext().propagating(Request.$id, Request.$user)
    /// ```
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> ContextView<Self, Propagation> { with(.propagating(repeat each locals)) }
}

private func rebinding<Value: Sendable>(
    _ local: TaskLocal<Value>
) -> @Sendable (@escaping Work) -> Work {
    { work in
        let value = local.get()
        return { local.withValue(value) { work() } }
    }
}
