extension ExecutionContext {
    /// A view of this context that runs at most `limit` pieces of work at a time, started in order.
    ///
    /// It makes no threads of its own. It is not serial, also where the base is or the limit is 1: code that
    /// suspends is not kept out (law 8); `serial(_:)` is. A barrier of the view runs alone among the view's
    /// own work. A limit below 1 stops the program.
    public func limited(to limit: Int, name: String? = nil) -> some BarrierContext {
        require(
            limit >= 1,
            "A view of '\(self.name)' limited to \(limit) could never run anything (law 1). "
                + "The limit must be 1 or more.")
        return Gate(base: self, width: limit, name: name ?? "\(self.name).limited(\(limit))")
    }
}
