extension ExecutionContext {
    /// Returns a view of this context that runs at most `limit` jobs at a time, started in order.
    ///
    /// The view makes no threads. It is not serial, even if the base is or the limit is 1: it does
    /// not exclude code that suspends (law 8), as `serial(named:)` does. A barrier of the view runs
    /// alone among the view's own jobs. A limit below 1 traps with a message.
    public func limited(to limit: Int, named name: String? = nil) -> LimitedView {
        require(
            limit >= 1,
            "A view of '\(self.name)' limited to \(limit) could never run anything (law 1). "
                + "The limit must be 1 or more.")
        return LimitedView(
            base: self, width: limit, name: name ?? "\(self.name).limited(\(limit))")
    }
}
