extension ExecutionContext {
    /// Returns a view of this context that keeps barriers (law 3).
    ///
    /// A barrier runs alone among the jobs of this view. The view does not see jobs that are
    /// submitted to the base directly. Jobs that are not barriers start in order, as many at a time
    /// as the base can run.
    @inlinable
    public func barrier(named name: String? = nil) -> some BarrierContext {
        LimitedView(withBarriersOver: self, named: name)
    }
}

extension SerialContext {
    /// Returns this context: a serial context runs each job as a barrier already (law 3).
    @inlinable
    public func barrier(named name: String? = nil) -> some SerialContext {
        Named(base: self, name: name ?? self.name)
    }
}

extension ActorBackingContext {
    /// Returns this context: a serial context runs each job as a barrier already (law 3).
    @inlinable
    public func barrier(named name: String? = nil) -> some ActorBackingContext {
        Named(base: self, name: name ?? self.name)
    }
}

extension MainActorContext {
    /// Returns this context: a serial context runs each job as a barrier already (law 3).
    @inlinable
    public func barrier(named name: String? = nil) -> some MainActorContext {
        Named(base: self, name: name ?? self.name)
    }
}

extension MainActorContext where Self: ActorBackingContext {
    /// Returns this context: a serial context runs each job as a barrier already (law 3).
    @inlinable
    public func barrier(named name: String? = nil) -> some MainActorContext & ActorBackingContext {
        Named(base: self, name: name ?? self.name)
    }
}

extension LimitedView {
    /// The view of a caller who wants barriers and no limit.
    @usableFromInline
    convenience init(withBarriersOver base: Base, named name: String?) {
        self.init(base: base, width: .max, name: name ?? "\(base.name).barrier")
    }
}
