/// Runs the jobs of a view inside a section.
///
/// Not a `HoldableAddition`: a hold may end on another thread, and a section belongs to one.
public struct Exclusion: ContextAddition {
    let section: CriticalSection

    public func decorate(_ work: @escaping Work) -> Work {
        let work = MovedWork(work)
        return { [section] in section.execute(work.run) }
    }

    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, on base: some SynchronousContext
    ) throws(Failure) -> Value {
        try base.sync { () throws(Failure) -> Value in try section.execute(body) }
    }

    public var facts: AdditionFacts {
        var facts = AdditionFacts()
        facts.needsThread = false
        facts.forecast = { [section] base, forecast in
            forecast.follow(base)
            // A base that the caller drives runs the job on the caller, which may enter again. A
            // base that starts no more jobs drops it.
            guard forecast.obstacle == nil, forecast.driver == nil, forecast.invalidated == nil,
                section.isCurrent == true
            else { return }
            forecast.obstruct(
                base.name, inside: "the section '\(section.name)', which its work must enter",
                until: "the caller has left that section")
        }
        return facts
    }
}

extension ContextAddition where Self == Exclusion {
    /// Each job of the context inside `section` (law 16).
    public static func exclusive(_ section: CriticalSection) -> Exclusion {
        Exclusion(section: section)
    }
}

extension ExecutionContext {
    /// This context, with each of its jobs inside `section` (law 16).
    ///
    /// A job blocks its thread while another thread is inside, so keep the section short.
    public func exclusive(_ section: CriticalSection) -> ContextView<Self, Exclusion> {
        with(.exclusive(section))
    }
}
