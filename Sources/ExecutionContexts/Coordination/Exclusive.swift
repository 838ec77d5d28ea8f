/// A context whose jobs run inside a section.
@usableFromInline
struct Exclusive<Base: ExecutionContext>: SourcePassing, ForecastingContext {
    @usableFromInline
    let base: Base
    let section: CriticalSection

    @usableFromInline
    init(base: Base, section: CriticalSection) {
        self.base = base
        self.section = section
    }

    @usableFromInline
    func decorate(_ work: @escaping Work) -> Work {
        let work = MovedWork(work)
        return { [section] in section.execute(work.run) }
    }

    func foresee(_ forecast: inout WaitForecast) {
        forecast.follow(base)
        // A base that the caller drives runs the job on the caller, which may enter again. A base
        // that starts no more jobs drops it.
        guard forecast.obstacle == nil, forecast.driver == nil, forecast.invalidated == nil,
            section.isCurrent == true
        else { return }
        forecast.obstruct(
            base.name, inside: "the section '\(section.name)', which its work must enter",
            until: "the caller has left that section")
    }
}

extension Exclusive: ThreadMeaningContext {}
extension Exclusive: BarrierContext where Base: BarrierContext {}
extension Exclusive: SerialContext where Base: SerialContext {}
extension Exclusive: MainActorContext where Base: MainActorContext {}
extension Exclusive: ActorBackingContext where Base: ActorBackingContext {}
extension Exclusive: RefusingContext where Base: RefusingContext {}
// Not a `SynchronousBarrierContext`: a hold may end on another thread, and a section belongs to
// one.
extension Exclusive: SynchronousContext where Base: SynchronousContext {
    @usableFromInline
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try JobSource.passing(body, to: base) { () throws(Failure) -> Value in
            try base.sync { () throws(Failure) -> Value in try section.execute(body) }
        }
    }
}

extension ExecutionContext {
    /// This context, with each of its jobs inside `section` (law 16).
    ///
    /// A job blocks its thread while another thread is inside, so keep the section short.
    @inlinable
    public func exclusive(_ section: CriticalSection) -> some ExecutionContext {
        Exclusive(base: self, section: section)
    }
}

extension BarrierContext {
    /// This context, with each of its jobs inside `section` (law 16).
    @inlinable
    public func exclusive(_ section: CriticalSection) -> some BarrierContext {
        Exclusive(base: self, section: section)
    }
}

extension SerialContext {
    /// This context, with each of its jobs inside `section` (law 16).
    @inlinable
    public func exclusive(_ section: CriticalSection) -> some SerialContext {
        Exclusive(base: self, section: section)
    }
}

extension ActorBackingContext {
    /// This context, with each of its jobs inside `section` (law 16).
    @inlinable
    public func exclusive(_ section: CriticalSection) -> some ActorBackingContext {
        Exclusive(base: self, section: section)
    }
}

extension MainActorContext {
    /// This context, with each of its jobs inside `section` (law 16).
    @inlinable
    public func exclusive(_ section: CriticalSection) -> some MainActorContext {
        Exclusive(base: self, section: section)
    }
}

extension MainActorContext where Self: ActorBackingContext {
    /// This context, with each of its jobs inside `section` (law 16).
    @inlinable
    public func exclusive(_ section: CriticalSection) -> some MainActorContext & ActorBackingContext
    {
        Exclusive(base: self, section: section)
    }
}
