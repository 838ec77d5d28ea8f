extension ExecutionContext {
    /// A view of this context that runs one piece of work at a time, in order (law 2).
    ///
    /// It makes no thread of its own and costs a few words while idle, so make one for each thing that wants
    /// order. It takes its work in batches and gives the thread back after 256 pieces or about a
    /// millisecond. If the base loses a drain, what waits in the view is abandoned, and who waits for an
    /// answer is told so (law 1); the view then goes on.
    public func serial(_ name: String? = nil) -> some ActorBackingContext & SynchronousBarrierContext {
        SerialView(base: self, name: name ?? "\(self.name).serial")
    }
}
