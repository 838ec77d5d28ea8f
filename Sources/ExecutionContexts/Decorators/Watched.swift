extension ExecutionContext {
    /// This context; `report` is told of each piece that has waited to start, or has run, for longer than `limit`.
    ///
    /// ```swift
    /// let database = GlobalContext().serial("database").watched(limit: .seconds(1)) { stall in print(stall) }
    /// ```
    ///
    /// A piece is reported once, while it still waits or runs; what takes longer than the limit and is over before
    /// the report can be made is not. The report is made on `reporting`, the global context if you name none, when
    /// the limit has passed in the time of this context: name one that a stall of this one does not stall as well. A
    /// limit that is not above zero stops the program.
    ///
    /// A piece that ends in time leaves nothing behind: its delay is cancelled. Memory goes with the pieces that wait.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (Stall) -> Void
    ) -> some ExecutionContext {
        Attended(
            base: self,
            attendant: StallWatch(
                of: name, limit: limit, on: reporting, from: (fileID, line), report: report))
    }
}

extension BarrierContext {
    /// This context; `report` is told of each piece that has waited to start, or has run, for longer than `limit`.
    ///
    /// A piece that waits for a barrier to end is one that waits, and so is a barrier that waits for other pieces.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (Stall) -> Void
    ) -> some BarrierContext {
        Attended(
            base: self,
            attendant: StallWatch(
                of: name, limit: limit, on: reporting, from: (fileID, line), report: report))
    }
}

extension SerialContext {
    /// This context; `report` is told of each piece that has waited to start, or has run, for longer than `limit`.
    ///
    /// Where one piece holds the context for long, it is reported as running and those behind it as waiting.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (Stall) -> Void
    ) -> some SerialContext {
        Attended(
            base: self,
            attendant: StallWatch(
                of: name, limit: limit, on: reporting, from: (fileID, line), report: report))
    }
}

extension ActorBackingContext {
    /// This context; `report` is told of each piece that has waited to start, or has run, for longer than `limit`.
    ///
    /// Where one piece holds the context for long, it is reported as running and those behind it as waiting.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (Stall) -> Void
    ) -> some ActorBackingContext {
        Attended(
            base: self,
            attendant: StallWatch(
                of: name, limit: limit, on: reporting, from: (fileID, line), report: report))
    }
}
