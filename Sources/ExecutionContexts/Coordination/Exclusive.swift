/// A context whose work holds a section while it runs.
struct Exclusive<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    let section: CriticalSection

    func decorate(_ work: @escaping Work) -> Work {
        let work = MovedWork(work)
        return { [section] in section.execute(work.run) }
    }
}

extension Exclusive: BarrierContext where Base: BarrierContext {}
extension Exclusive: SerialContext where Base: SerialContext {}
extension Exclusive: ActorBackingContext where Base: ActorBackingContext {}
extension Exclusive: RefusingContext where Base: RefusingContext {}
// Not a `SynchronousBarrierContext`: a hold may end on another thread, and a section belongs to one.
extension Exclusive: SynchronousContext where Base: SynchronousContext {
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try base.sync { () throws(Failure) -> Value in try section.execute(body) }
    }
}

extension ExecutionContext {
    /// This context, with each piece of its work inside `section` (law 16).
    ///
    /// A piece that finds the section taken blocks its thread until it is free: for short sections.
    public func exclusive(_ section: CriticalSection) -> some ExecutionContext {
        Exclusive(base: self, section: section)
    }
}

extension BarrierContext {
    /// This context, with each piece of its work inside `section` (law 16).
    public func exclusive(_ section: CriticalSection) -> some BarrierContext {
        Exclusive(base: self, section: section)
    }
}

extension SerialContext {
    /// This context, with each piece of its work inside `section` (law 16).
    public func exclusive(_ section: CriticalSection) -> some SerialContext {
        Exclusive(base: self, section: section)
    }
}

extension ActorBackingContext {
    /// This context, with each piece of its work inside `section` (law 16).
    public func exclusive(_ section: CriticalSection) -> some ActorBackingContext {
        Exclusive(base: self, section: section)
    }
}
