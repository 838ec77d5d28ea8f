public import ExecutionContexts

extension Flight {
    /// Subscribes to another work of the graph for as long as this one lasts, at this one's
    /// priority (law 32).
    ///
    /// `handler` is called on the graph's context, in the other work's turn; what it is told of is
    /// its own to use or to pass on. A work that would come to need itself fails with the names on
    /// the way round, and nothing is subscribed to.
    ///
    /// - Returns: the subscription, for who no longer needs the other work before this one ends.
    @discardableResult
    public func depend<Input: Sendable>(
        on work: SharedWork<Input>, _ handler: @escaping @Sendable (WorkEvent<Input>) -> Void
    ) -> Subscription {
        require(
            work.graph === node.graph,
            "'\(node.name)' cannot depend on '\(work.slot.name)', which is part of another graph (law 32). Make both in "
                + "one graph, or let a work of this one follow the other.")
        let node = self.node
        let asked = node.priority
        let need = Subscriber(asked, node.graph.turns, handler)
        node.perform {
            // Once its end is under way it needs nothing more.
            guard node.isGoing, need.isActive else { return need.cancelInTurn() }
            let other = work.slot.node()
            if let way = node.circle(through: other) {
                need.cancelInTurn()
                Self.end(node, .failure(WorkError.cycle(([node] + way).map { $0.name })))
                return
            }
            // A change between asking and this turn has not reached it.
            if node.priority != asked { need.changeInTurn(to: node.priority) }
            need.join(for: node)
            other.add(need)
        }
        return need
    }

    /// Does what another work does: its progress, its partial values and its end are this one's.
    ///
    /// The other work may be part of another graph, on the same context or another one: it is as
    /// urgent as this one is, and is let go of with it. A circle through several graphs is not
    /// found, and never ends.
    public func follow(_ work: SharedWork<Value>) {
        let handler: @Sendable (WorkEvent<Value>) -> Void = { event in
            switch event {
            case .progress(let progress): self.report(progress)
            case .partial(let value): self.yield(value)
            case .finished(let outcome): self.complete(outcome)
            }
        }
        if work.graph === node.graph { return _ = depend(on: work, handler) }
        node.perform { [node] in
            // Told in the other work's turn: so each event takes one submission to this one's
            // context, or none.
            if node.isGoing { node.need(elsewhere: work.subscribe(priority: node.priority, handler)) }
        }
    }

    /// Ends as work of a queue ends, which is as urgent as this one is, and is cancelled if this
    /// one ends first (law 32).
    public func follow(_ queued: QueuedWork<Value>) {
        onPriority { queued.priority = $0 }
        follow(queued.async)
    }

    /// Ends with what `transform` makes of another work's value, on `context`; passes on its
    /// progress and its failure.
    ///
    /// Partial values of the other work are transformed as well, for this one's own: one at a time,
    /// and one that comes in the meantime is dropped, since a newer one follows. One whose
    /// transformation fails is dropped, too. The last value waits for none of them: a
    /// transformation that has not begun is cancelled, of one that has the result is dropped.
    /// `transform` is told whether the value is the last one.
    public func process<Input: Sendable>(
        _ work: SharedWork<Input>, on context: some ExecutionContext,
        _ transform: @escaping @Sendable (_ value: Input, _ isFinal: Bool) throws -> Value
    ) {
        begin(
            Processing(for: self) { value, isFinal in Making(context.submit { try transform(value, isFinal) })
            }, of: work)
    }

    /// Ends with what `transform` makes of another work's value, in its turn of a queue, as urgent
    /// as this work is.
    ///
    /// What waits in the queue has this work's priority, and keeps up with it (law 32). For the
    /// rest see the same with a context.
    public func process<Input: Sendable>(
        _ work: SharedWork<Input>, on queue: PrioritizedQueue,
        _ transform: @escaping @Sendable (_ value: Input, _ isFinal: Bool) throws -> Value
    ) {
        let node = self.node
        let processing = Processing<Input, Value>(for: self) { value, isFinal in
            let queued = queue.submit(priority: node.priority) { try transform(value, isFinal) }
            return Making(queued.async) { queued.priority = $0 }
        }
        begin(processing, of: work)
        onPriority { processing.change(to: $0) }
    }

    private func begin<Input: Sendable>(_ processing: Processing<Input, Value>, of work: SharedWork<Input>) {
        depend(on: work) { event in processing.take(event) }
        onEnd { processing.stop() }
    }
}
