/// A context whose work holds a section while it runs.
struct Exclusive<Base: ExecutionContext>: ContextDecorator, ForeseeingContext {
    let base: Base
    let section: CriticalSection

    func decorate(_ work: @escaping Work) -> Work {
        let work = MovedWork(work)
        return { [section] in section.execute(work.run) }
    }

    func foresee(_ outlook: inout Outlook) {
        outlook.follow(base)
        // A base that the caller drives runs the work on the caller, which may enter again. One
        // that starts nothing any more drops it.
        guard outlook.obstacle == nil, outlook.driver == nil, outlook.invalidated == nil,
            section.isCurrent == true
        else { return }
        outlook.obstruct(
            base.name, inside: "the section '\(section.name)', which its work must enter",
            until: "the caller has left that section")
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
