/// A context under another name.
@usableFromInline
struct Named<Base: ExecutionContext>: SourcePassing {
    @usableFromInline
    let base: Base
    @usableFromInline
    let name: String

    @usableFromInline
    init(base: Base, name: String) {
        self.base = base
        self.name = name
    }

    @usableFromInline
    var runsAnywhere: Bool { base.runsAnywhere }
}

extension Named: BarrierContext where Base: BarrierContext {}
extension Named: SerialContext where Base: SerialContext {}
extension Named: MainActorContext where Base: MainActorContext {}
extension Named: ActorBackingContext where Base: ActorBackingContext {}
// Written by hand: the default binds what `decorate` adds, and this decorator adds nothing.
extension Named: SynchronousContext where Base: SynchronousContext {
    @usableFromInline
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try base.sync(body) }
}
extension Named: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    @usableFromInline
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try base.syncBarrier(body) }
}
extension Named: RefusingContext where Base: RefusingContext {}

extension ExecutionContext {
    /// Returns this context under another name, for messages and tools.
    @inlinable
    public func named(_ name: String) -> some ExecutionContext { Named(base: self, name: name) }
}

extension BarrierContext {
    /// Returns this context under another name, for messages and tools.
    @inlinable
    public func named(_ name: String) -> some BarrierContext { Named(base: self, name: name) }
}

extension SerialContext {
    /// Returns this context under another name, for messages and tools.
    @inlinable
    public func named(_ name: String) -> some SerialContext { Named(base: self, name: name) }
}

extension ActorBackingContext {
    /// Returns this context under another name, for messages and tools.
    @inlinable
    public func named(_ name: String) -> some ActorBackingContext { Named(base: self, name: name) }
}

extension MainActorContext {
    /// Returns this context under another name, for messages and tools.
    @inlinable
    public func named(_ name: String) -> some MainActorContext { Named(base: self, name: name) }
}

extension MainActorContext where Self: ActorBackingContext {
    /// Returns this context under another name, for messages and tools.
    @inlinable
    public func named(_ name: String) -> some MainActorContext & ActorBackingContext {
        Named(base: self, name: name)
    }
}
