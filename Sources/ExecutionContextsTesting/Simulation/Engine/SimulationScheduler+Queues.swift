internal import CSimulation
internal import ExecutionContexts

// Dispatch queues. A closure that the scheduler stores does not retain the scheduler, and
// `close` releases it. A use after the end would trap, not read freed memory.
extension SimulationScheduler {
    /// The Dispatch queues, created at the first use.
    var usedQueues: DispatchQueues {
        if let dispatchQueues { return dispatchQueues }
        let made = DispatchQueues(self)
        dispatchQueues = made
        return made
    }

    /// Records a queue that the program created.
    func didMake(_ queue: SystemQueue) {
        let name = names.unique(queue.name)
        names.add(queue.word, unique: name)
        didMake(queue.word, name)
        usedQueues.make(queue, name)
        SharedCounters.add(queue.word, name, hosts)
    }

    /// Another queue, which the schedule did not create, now has the address.
    func forget(_ queue: SystemQueue) {
        dispatchQueues?.forget(queue)
        names.forget(queue.word)
        objects.forget(queue.word)
        memory?.make(queue.word)
        log?.forget(queue.word)
    }

    // MARK: Jobs

    /// Submits a job to its queue, at a Dispatch time.
    func submit(_ job: SystemJob, at limit: UInt64, by thread: SimulatedThread) {
        // Before others run and advance time.
        let deadline = dispatchTimes.deadline(of: limit, at: now)
        let queue = usedQueues[job.queue]
        if !queue.isOfXCTest { point(thread) }
        guard deadline > now else {
            trace?.add(thread, .submits(queue.name))
            submit(job, to: queue)
            // The job may begin before the caller does what the simulation does not see, such as
            // cancelling an operation.
            if !queue.isOfXCTest { point(thread, creates: true) }
            return
        }
        // Dispatch drops a job scheduled for `.distantFuture`.
        guard deadline != .max else { return }
        // XCTest's watchdog. The microsecond is for what XCTest loses by rounding.
        if queue.isOfXCTest { thread.expectationLimit = deadline - Self.slopOfXCTest + 1_000 }
        trace?.add(thread, .submits(queue.name))
        log?.add(.writes, .time)
        let what = "A job of '\(queue.name)' that was submitted for later"
        _ = clock.add(
            at: ContextInstant(nanoseconds: deadline),
            as: { job.isCancelled ? nil : what },
            { [unowned self] in
                HiddenFromSanitizer.begin()
                submit(job, to: queue)
                HiddenFromSanitizer.end()
            })
    }

    private func submit(_ job: SystemJob, to queue: SimulatedDispatchQueue) {
        let isExclusive = queue.isSerial || job.isBarrier && !queue.queue.isGlobal
        queue.submit(isBarrier: job.isBarrier) { Self.run(job, in: queue, isExclusive) }
    }

    /// Runs a job on the calling thread, with the queue as the current one.
    private static func run(
        _ job: SystemJob, in queue: SimulatedDispatchQueue, _ isExclusive: Bool
    ) {
        let thread = HostThread.current?.thread
        thread?.dispatchFrames.append(DispatchFrame(queue: queue, isExclusive: isExclusive))
        job.run()
        thread?.dispatchFrames.removeLast()
    }

    /// Runs a job in its queue before it returns.
    func runInQueue(_ job: SystemJob, by thread: SimulatedThread) {
        let queue = usedQueues[job.queue]
        if !queue.isOfXCTest { point(thread) }
        let isExclusive = queue.isSerial || job.isBarrier && !queue.queue.isGlobal
        run(in: queue, isExclusive, by: thread) { Self.run(job, in: queue, isExclusive) }
    }

    /// Calls `body` in a queue: on the calling thread, except for the main queue.
    private func run(
        in queue: SimulatedDispatchQueue, _ isExclusive: Bool, by thread: SimulatedThread,
        _ body: @escaping () -> Void
    ) {
        if queue.isEntered {
            queue.base.enter(thread, isBarrier: isExclusive && !queue.isSerial)
            HiddenFromSanitizer.suspended(body)
            queue.base.leave(thread)
        } else if queue.base.isolation != 0 {
            waitForJob(of: queue, isExclusive, by: thread, body)
        } else {
            runWhileServerWaits(of: queue, isExclusive, by: thread) {
                HiddenFromSanitizer.suspended(body)
            }
        }
    }

    /// Waits until a thread of the queue has run a job.
    private func waitForJob(
        of queue: SimulatedDispatchQueue, _ isBarrier: Bool, by thread: SimulatedThread,
        _ run: @escaping () -> Void
    ) {
        var isOver = false
        let end = Edge()
        queue.submit(isBarrier: isBarrier) { [self] in
            run()
            end.release()
            HiddenFromSanitizer.begin()
            isOver = true
            wake(thread)
            HiddenFromSanitizer.end()
        }
        block(thread, on: queue.base) { isOver }
        end.acquire()
    }

    /// Runs a job on the calling thread while a thread of the queue waits for it.
    private func runWhileServerWaits(
        of queue: SimulatedDispatchQueue, _ isBarrier: Bool, by thread: SimulatedThread,
        _ run: () -> Void
    ) {
        var (mayRun, isOver) = (false, false)
        var server: SimulatedThread?
        let (beginning, end) = (Edge(), Edge())
        queue.submit(isBarrier: isBarrier) { [self] in
            beginning.release()
            HiddenFromSanitizer.begin()
            if let own = caller {
                server = own
                mayRun = true
                wake(thread)
                block(own, on: queue.base) { isOver }
            }
            HiddenFromSanitizer.end()
            end.acquire()
        }
        block(thread, on: queue.base) { mayRun }
        beginning.acquire()
        thread.running.append(.init(queue: queue.base, isExclusive: true, caller: nil))
        run()
        thread.running.removeLast()
        end.release()
        isOver = true
        if let server { wake(server) }
    }

    /// Calls a function `count` times, on the calling thread and on others.
    func apply(
        _ count: Int, in queue: SystemQueue?, by thread: SimulatedThread,
        _ body: @escaping (Int) -> Void
    ) {
        point(thread)
        let queue = queue.map { usedQueues[$0] }
        var (next, left) = (0, count)
        let end = Edge()
        // Each thread takes the next call, until none is left.
        let takeCalls = { [unowned self] in
            HiddenFromSanitizer.begin()
            while next < count, let own = caller {
                let index = next
                next += 1
                log?.addAll()
                HiddenFromSanitizer.suspended { body(index) }
                end.release()
                left -= 1
                if left == 0, own !== thread, thread.state == .waiting { wake(thread) }
                point(own)
            }
            HiddenFromSanitizer.end()
        }
        for _ in 1..<max(min(count, Self.mostAppliers), 1) where queue?.isSerial != true {
            guard let queue else {
                system.submit(
                    .init(run: takeCalls, isBarrier: false, caller: nil, edge: .released()))
                continue
            }
            queue.submit(isBarrier: false, takeCalls)
        }
        if let queue {
            run(in: queue, queue.isSerial, by: thread, takeCalls)
        } else {
            takeCalls()
        }
        block(thread, on: queue?.base ?? system) { left == 0 }
        end.acquire()
    }

    /// How many threads share the calls of one `concurrentPerform`.
    private static let mostAppliers = 4

    // MARK: Groups and work items

    /// Submits a job to its queue when a group is empty; false if an outside thread is in the
    /// group.
    func notify(_ group: SystemCounter, _ job: SystemJob, by thread: SimulatedThread) -> Bool {
        point(thread)
        // Also at the end, as after `async`.
        defer { point(thread, creates: true) }
        let isEmpty = group.take()
        guard isEmpty || counters[group].taken > 0 else { return false }
        log?.add(.writes, group.word)
        let queue = usedQueues[job.queue]
        if isEmpty {
            submit(job, to: queue)
        } else {
            usedQueues.notify(group) { [unowned self] in submit(job, to: queue) }
        }
        return true
    }

    /// A thread is about to wait for a work item, through the group that the item leaves.
    func willWait(forItem group: SystemCounter) {
        if counters[group].name == nil { counters.makeItem(group) }
    }

    /// A thread created a work item, which leaves this group when it has run.
    func didMake(item group: SystemCounter) {
        forget(group)
        counters.makeItem(group)
    }

    /// A thread has run a work item.
    func didRun(item group: SystemCounter, by thread: SimulatedThread) {
        log?.add(.releases, group.word)
        pass(.releases, group.word, by: thread)
        dispatchQueues?.submitNotifications(of: group)
    }

    /// A thread is about to read or change a Dispatch object.
    func willTouchDispatch(_ object: Word, by thread: SimulatedThread) {
        point(thread, for: Intent(.writes, object))
        log?.add(.writes, object)
        pass(.writes, object, by: thread)
    }

    /// A thread resumed a queue, or changed its target.
    func didChangeQueue(_ queue: Word, by thread: SimulatedThread) {
        if dispatchQueues?.didChange(queue) == false {
            fail(
                .misuse,
                "'\(thread.name)' changes the target of a queue that has jobs. The simulation cannot order that: "
                    + "set the target before the first job."
            )
        }
        // A job that may begin now begins before what the simulation does not see.
        point(thread, creates: true)
    }
}
