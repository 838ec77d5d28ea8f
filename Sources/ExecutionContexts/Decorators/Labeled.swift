/// A context whose submissions carry a label.
@usableFromInline
struct Labeled<Base: ExecutionContext>: SourcePassing, LabelingContext {
    @usableFromInline
    let base: Base
    let label: String

    @usableFromInline
    init(base: Base, label: String) {
        self.base = base
        self.label = label
    }

    @usableFromInline
    func decorate(_ work: @escaping Work) -> Work { JobSource.label(label, work) }

    @usableFromInline
    var runsAnywhere: Bool { base.runsAnywhere }
}

// An inline job is a part of another one.
extension Labeled: PlainView {}

/// A context with a label for its jobs.
///
/// A view of it that reads labels gets a job before the label is added, and adds the label itself.
package protocol LabelingContext: ExecutionContext {
    var label: String { get }
}

extension Labeled: BarrierContext where Base: BarrierContext {}
extension Labeled: SerialContext where Base: SerialContext {}
extension Labeled: MainActorContext where Base: MainActorContext {}
extension Labeled: ActorBackingContext where Base: ActorBackingContext {}
extension Labeled: RefusingContext where Base: RefusingContext {}
extension Labeled: SynchronousContext where Base: SynchronousContext {
    @usableFromInline
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try JobSource.passing(body, to: base, labeled: label) { () throws(Failure) -> Value in
            try base.sync(body)
        }
    }
}
extension Labeled: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    @usableFromInline
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try JobSource.passing(body, to: base, labeled: label) { () throws(Failure) -> Value in
            try base.syncBarrier(body)
        }
    }
}

extension ExecutionContext {
    /// Returns this context with a label for its jobs, which observers and tools show.
    ///
    /// ```swift
    /// let decoding = GlobalContext().labeled("decode")
    /// decoding.execute { print("shown as 'decode'") }
    /// ```
    ///
    /// Each submission through the view carries the label: of a closure, of a delay, of `run`,
    /// `submit` and `sync`, of a callback. Label one submission by a view for it alone:
    /// `context.labeled("warm up").execute { ... }`. Of several labels the one nearest to the
    /// submission counts: that of the last view. A view with its own queue, such as a serial one,
    /// submits drains, and they keep their name. A job without a label is shown by where it was
    /// written; see ``ObservedWork/name``.
    @inlinable
    public func labeled(_ label: String) -> some ExecutionContext {
        Labeled(base: self, label: label)
    }
}

extension BarrierContext {
    /// Returns this context with a label for its jobs, which observers and tools show.
    @inlinable
    public func labeled(_ label: String) -> some BarrierContext {
        Labeled(base: self, label: label)
    }
}

extension SerialContext {
    /// Returns this context with a label for its jobs, which observers and tools show.
    @inlinable
    public func labeled(_ label: String) -> some SerialContext { Labeled(base: self, label: label) }
}

extension ActorBackingContext {
    /// Returns this context with a label for its jobs, which observers and tools show.
    @inlinable
    public func labeled(_ label: String) -> some ActorBackingContext {
        Labeled(base: self, label: label)
    }
}

extension MainActorContext {
    /// Returns this context with a label for its jobs, which observers and tools show.
    @inlinable
    public func labeled(_ label: String) -> some MainActorContext {
        Labeled(base: self, label: label)
    }
}

extension MainActorContext where Self: ActorBackingContext {
    /// Returns this context with a label for its jobs, which observers and tools show.
    @inlinable
    public func labeled(_ label: String) -> some MainActorContext & ActorBackingContext {
        Labeled(base: self, label: label)
    }
}
