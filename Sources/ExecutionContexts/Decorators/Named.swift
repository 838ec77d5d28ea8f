/// A context under another name.
struct Named<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    let name: String

    var runsAnywhere: Bool { base.runsAnywhere }
}

extension Named: BarrierContext where Base: BarrierContext {}
extension Named: SerialContext where Base: SerialContext {}
extension Named: SynchronousContext where Base: SynchronousContext {}
extension Named: SynchronousBarrierContext where Base: SynchronousBarrierContext {}
extension Named: RefusingContext where Base: RefusingContext {}

extension ExecutionContext {
    /// This context under another name, for messages and tools.
    public func named(_ name: String) -> some ExecutionContext { Named(base: self, name: name) }
}

extension BarrierContext {
    /// This context under another name, for messages and tools.
    public func named(_ name: String) -> some BarrierContext { Named(base: self, name: name) }
}

extension SerialContext {
    /// This context under another name, for messages and tools.
    public func named(_ name: String) -> some SerialContext { Named(base: self, name: name) }
}
