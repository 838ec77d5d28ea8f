extension ExecutionContext {
    /// A view of this context that keeps barriers (law 3).
    ///
    /// A barrier runs alone among the work of this view; what is submitted to the base directly is not seen.
    /// Pieces that are no barriers start in order and run as many at a time as the base can.
    public func barrier(_ name: String? = nil) -> some BarrierContext {
        Gate(base: self, width: .max, name: name ?? "\(self.name).barrier")
    }
}

extension SerialContext {
    /// This context: a serial one runs each piece as a barrier already (law 3).
    public func barrier(_ name: String? = nil) -> some SerialContext {
        Named(base: self, name: name ?? self.name)
    }
}

extension ActorBackingContext {
    /// This context: a serial one runs each piece as a barrier already (law 3).
    public func barrier(_ name: String? = nil) -> some ActorBackingContext {
        Named(base: self, name: name ?? self.name)
    }
}
