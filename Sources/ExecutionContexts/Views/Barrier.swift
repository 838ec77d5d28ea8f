extension ExecutionContext {
    /// Returns a view of this context that keeps barriers (law 3).
    ///
    /// A barrier runs alone among the jobs of this view. The view does not see jobs that are
    /// submitted to the base directly. Jobs that are not barriers start in order, as many at a time
    /// as the base can run.
    public func barrier(named name: String? = nil) -> LimitedView {
        LimitedView(base: self, width: .max, name: name ?? "\(self.name).barrier")
    }
}

extension SerialContext {
    /// Returns this context: a serial context runs each job as a barrier already (law 3).
    public func barrier(named name: String? = nil) -> ContextView<Self, Naming> {
        named(name ?? self.name)
    }
}
