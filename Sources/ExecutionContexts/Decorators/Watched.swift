/// A context that tells when a piece of its work waits or runs for too long.
struct Watched<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    private let watch: StallWatch

    init(
        base: Base, limit: Duration, on reporting: some ExecutionContext,
        report: @escaping @Sendable (Stall) -> Void
    ) {
        require(
            limit > .zero,
            "'\(base.name)' was to be watched with a limit of \(limit), which every piece would pass at once. "
                + "Pass a limit above zero.")
        self.base = base
        watch = StallWatch(limit: limit, on: reporting, report: report)
    }

    func decorate(_ work: @escaping Work) -> Work {
        let turn = begin()
        return { turn.run(work) }
    }

    // Work that a waiting thread took over leaves an empty turn to be watched.
    var runsAnywhere: Bool { base.runsAnywhere }

    private func begin() -> WatchedTurn { WatchedTurn(watch, context: name, time: time) }
}

extension Watched: BarrierContext where Base: BarrierContext {}
extension Watched: SerialContext where Base: SerialContext {}
extension Watched: RefusingContext where Base: RefusingContext {}
extension Watched: SynchronousContext where Base: SynchronousContext {
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let turn = begin()
        return try base.sync { () throws(Failure) -> Value in try turn.run(body) }
    }
}
extension Watched: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let turn = begin()
        return try base.syncBarrier { () throws(Failure) -> Value in try turn.run(body) }
    }

    func hold() -> ExclusiveHold {
        let turn = begin()
        let hold = base.hold()
        let held = turn.start()
        return hold.then { turn.end(held) }
    }
}

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
        report: @escaping @Sendable (Stall) -> Void
    ) -> some ExecutionContext {
        Watched(base: self, limit: limit, on: reporting, report: report)
    }
}

extension BarrierContext {
    /// This context; `report` is told of each piece that has waited to start, or has run, for longer than `limit`.
    ///
    /// A piece that waits for a barrier to end is one that waits, and so is a barrier that waits for other pieces.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        report: @escaping @Sendable (Stall) -> Void
    ) -> some BarrierContext {
        Watched(base: self, limit: limit, on: reporting, report: report)
    }
}

extension SerialContext {
    /// This context; `report` is told of each piece that has waited to start, or has run, for longer than `limit`.
    ///
    /// Where one piece holds the context for long, it is reported as running and those behind it as waiting.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        report: @escaping @Sendable (Stall) -> Void
    ) -> some SerialContext {
        Watched(base: self, limit: limit, on: reporting, report: report)
    }
}
