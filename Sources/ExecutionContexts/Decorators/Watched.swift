extension ExecutionContext {
    /// Returns a view of this context that reports each job that waits or runs for more than
    /// `limit`.
    ///
    /// ```swift
    /// let database = GlobalContext().serial("database").watched(limit: .seconds(1)) { stall in print(stall) }
    /// ```
    ///
    /// A job is reported once, while it waits or runs. A job that exceeds the limit and ends before
    /// the report can be made is not reported.
    ///
    /// The report is made on `reporting`, by default the global context, when the limit has passed
    /// in the time of this context. Pass a context that a stall of this one does not stall as well.
    /// A limit that is not above zero traps with a message.
    ///
    /// A job that ends in time leaves nothing behind: its delay is cancelled. Memory is
    /// proportional to the number of waiting jobs.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (Stall) -> Void
    ) -> some ExecutionContext {
        Intercepted(
            base: self,
            interceptor: StallMonitor(
                of: name, limit: limit, on: reporting, from: (fileID, line), report: report))
    }
}

extension BarrierContext {
    /// Returns a view of this context that reports each job that waits or runs for more than
    /// `limit`.
    ///
    /// A job that waits for a barrier to end is waiting, and so is a barrier that waits for other
    /// jobs.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (Stall) -> Void
    ) -> some BarrierContext {
        Intercepted(
            base: self,
            interceptor: StallMonitor(
                of: name, limit: limit, on: reporting, from: (fileID, line), report: report))
    }
}

extension SerialContext {
    /// Returns a view of this context that reports each job that waits or runs for more than
    /// `limit`.
    ///
    /// If one job occupies the context for long, it is reported as running, and those behind as
    /// waiting.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (Stall) -> Void
    ) -> some SerialContext {
        Intercepted(
            base: self,
            interceptor: StallMonitor(
                of: name, limit: limit, on: reporting, from: (fileID, line), report: report))
    }
}

extension ActorBackingContext {
    /// Returns a view of this context that reports each job that waits or runs for more than
    /// `limit`.
    ///
    /// If one job occupies the context for long, it is reported as running, and those behind as
    /// waiting.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (Stall) -> Void
    ) -> some ActorBackingContext {
        Intercepted(
            base: self,
            interceptor: StallMonitor(
                of: name, limit: limit, on: reporting, from: (fileID, line), report: report))
    }
}
