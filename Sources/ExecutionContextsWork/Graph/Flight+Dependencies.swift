public import ExecutionContexts

extension Flight {
    /// Subscribes to another work item of the graph until this one ends, at this one's priority
    /// (law 32).
    ///
    /// `handler` is called on the graph's context, in the job that notifies the other item's
    /// subscribers. The handler decides how to use an event. If the dependency would close a cycle,
    /// this work fails with the names along the cycle, and no subscription is made.
    ///
    /// - Returns: the subscription, to cancel when this work no longer needs the other one.
    @discardableResult
    public func depend<Input: Sendable>(
        on work: SharedWork<Input>, _ handler: @escaping @Sendable (WorkEvent<Input>) -> Void
    ) -> Subscription {
        node.depend(on: work.target) { handler(WorkEvent($0)) }
    }

    /// Completes like another work item, and forwards its progress and its partial values.
    ///
    /// The other work may be part of another graph, on the same context or on another one. It gets
    /// this work's priority, and this work unsubscribes from it when it ends. A cycle through
    /// several graphs is not detected, and never ends.
    public func follow(_ work: SharedWork<Value>) {
        let handler: Subscriber.Handler = { event in
            // A flight that was released would fail the work.
            withExtendedLifetime(self) { $0.node.forward(event) }
        }
        if work.graph === node.graph { return _ = node.depend(on: work.target, handler) }
        node.perform { [node] _ in
            // The handler runs in the job that notifies the other work's subscribers, so each event
            // takes at most one submission to this graph's context.
            if node.isInFlight {
                node.addForeignDependency(work.subscribe(node.priority, on: nil, handler))
            }
        }
    }

    /// Completes like queued work. The queued work gets this one's priority, and is cancelled if
    /// this one ends first (law 32).
    public func follow(_ queued: QueuedWork<Value>) {
        onPriority { queued.priority = $0 }
        follow(queued.async)
    }

    /// Completes with `transform` of another work's value, run on `context`; forwards its progress
    /// and its failure.
    ///
    /// Partial values of the other work are transformed into partial values of this one, one at a
    /// time. A partial value that arrives during a transformation is dropped, since a newer one
    /// follows. If its transformation fails, it is dropped too. The final value does not wait for
    /// them: a pending transformation is cancelled, and the result of a running one is discarded.
    /// `isFinal` is true for the final value.
    public func process<Input: Sendable>(
        _ work: SharedWork<Input>, on context: some ExecutionContext,
        _ transform: @escaping @Sendable (_ value: Input, _ isFinal: Bool) throws -> Value
    ) {
        begin(
            Processing(for: self) { value, isFinal in
                Transformation(context.submit { try transform(value, isFinal) })
            }, of: work)
    }

    /// Completes with `transform` of another work's value, run by `queue` at this work's priority.
    ///
    /// The queued transformation follows the priority of this work (law 32). In all else this is
    /// like the same method with a context.
    public func process<Input: Sendable>(
        _ work: SharedWork<Input>, on queue: PrioritizedQueue,
        _ transform: @escaping @Sendable (_ value: Input, _ isFinal: Bool) throws -> Value
    ) {
        let node = self.node
        let processing = Processing<Input, Value>(for: self) { value, isFinal in
            let queued = queue.submit(priority: node.priority) { try transform(value, isFinal) }
            return Transformation(queued.async) { queued.priority = $0 }
        }
        begin(processing, of: work)
        onPriority { processing.change(to: $0) }
    }

    private func begin<Input: Sendable>(
        _ processing: Processing<Input, Value>, of work: SharedWork<Input>
    ) {
        depend(on: work) { event in processing.receive(event) }
        onEnd { processing.stop() }
    }
}

extension FlightNode {
    /// Subscribes to another work item of the graph, as `Flight.depend(on:_:)` does.
    fileprivate final func depend(
        on target: WorkTarget, _ handler: @escaping Subscriber.Handler
    ) -> Subscription {
        require(
            target.graph === graph,
            "'\(name)' cannot depend on '\(target.name)', which is part of another graph (law 32). Make both in "
                + "one graph, or let work of this graph follow the other.")
        let asked = priority
        let dependency = Subscriber(asked, graph.jobs, handler)
        perform { refusal in
            // Work whose end has been decided needs no dependency.
            guard self.isInFlight, dependency.isActive else { return dependency.cancelInJob() }
            if let refusal { return dependency.refuse(refusal) }
            let other = target.node()
            if let path = self.cycle(through: other) {
                dependency.cancelInJob()
                self.end(with: .failed(WorkError.cycle(([self] + path).map { $0.name })))
                return
            }
            // A change since `asked` was read has not reached `dependency`: it joins the list of
            // this node's dependencies only now.
            if self.priority != asked { dependency.changeInJob(to: self.priority) }
            dependency.join(for: self)
            other.add(dependency)
        }
        return dependency
    }

    /// Passes on an event of work with values of the same type.
    fileprivate final func forward(_ event: NodeEvent) {
        if event.isEnd { end(with: event) } else if isInFlight { post(event) }
    }
}
