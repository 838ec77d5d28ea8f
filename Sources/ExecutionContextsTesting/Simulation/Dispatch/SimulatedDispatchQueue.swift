internal import ExecutionContexts

/// A Dispatch queue in one schedule, with the jobs that the schedule submitted to it.
///
/// Jobs run on the threads of the outermost queue: the last of the targets before the system's own.
/// A queue inside it passes its jobs to its target, as Dispatch does:
///
/// | kind | what its target gets |
/// |---|---|
/// | serial | one job at a time that runs all that is queued, until nothing is left |
/// | concurrent | each job, in order; a barrier alone, when no earlier job is left |
final class SimulatedDispatchQueue {
    /// A job, as the queue that runs it sees it.
    struct Item {
        let isBarrier: Bool
        /// The step that submitted it.
        let step: Int?
        let run: () -> Void
    }

    let queue: SystemQueue
    let name: String
    /// Whether XCTest uses it, to wait for expectations. The program can observe no order there.
    let isOfXCTest: Bool
    /// Whether it runs one job at a time itself.
    let isSerial: Bool
    /// The queue in which its jobs run; nil if it is the outermost one.
    let target: SimulatedDispatchQueue?
    /// The jobs of the outermost queue, and its threads.
    let base: SimulatedJobQueue
    // The scheduler owns this. A use after its end would trap, not read freed memory.
    private unowned let scheduler: SimulationScheduler
    /// The jobs not yet passed to the target.
    private var pending: ArraySlice<Item> = []
    /// How many of the jobs passed to the target have not ended.
    private var active = 0
    /// Whether the active job is a barrier, or runs all jobs of a serial queue.
    private var isExclusive = false

    init(
        _ queue: SystemQueue, _ name: String, target: SimulatedDispatchQueue?,
        base: SimulatedJobQueue, on scheduler: SimulationScheduler
    ) {
        (self.queue, self.name, self.target, self.base) = (queue, name, target, base)
        self.scheduler = scheduler
        isOfXCTest = SimulationTrace.isOfXCTest(name)
        isSerial = queue.isSerial
        queue.keep()
    }

    deinit { queue.drop() }

    /// Whether jobs are still queued here.
    var hasJobs: Bool { !pending.isEmpty }
    var isIdle: Bool { target == nil ? base.isIdle : pending.isEmpty && active == 0 }
    /// Whether a thread can run its own job here without a thread of the queue.
    var isEntered: Bool { target == nil && base.isolation == 0 }

    // MARK: Jobs

    /// Queues a job. The caller owns the scheduler token.
    func submit(isBarrier: Bool, _ run: @escaping () -> Void) {
        let isBarrier = isBarrier && !queue.isGlobal
        if target == nil {
            base.submit(
                .init(run: run, isBarrier: isBarrier, caller: nil, edge: .released()))
            return
        }
        scheduler.log?.add(.writes, queue.word)
        if let thread = scheduler.caller { scheduler.pass(.releases, queue.word, by: thread) }
        pending.append(Item(isBarrier: isBarrier, step: scheduler.log?.cause(nil), run: run))
        startJobs()
    }

    /// Passes to the target the jobs that may run now: after a job, or when the queue is resumed.
    func startJobs() {
        guard let target else { return base.wakeWorkers() }
        while let first = pending.first, !isExclusive, !queue.isSuspended {
            let isAlone = isSerial || first.isBarrier
            if isAlone && active > 0 { return }
            isExclusive = isAlone
            active += 1
            if isSerial {
                target.submit(isBarrier: false) { [self] in runAll() }
            } else {
                pending.removeFirst()
                target.submit(isBarrier: false) { [self] in
                    run(first)
                    didEnd()
                }
            }
        }
    }

    /// Runs the jobs of a serial queue until none is left.
    private func runAll() {
        while let item = next() { run(item) }
        didEnd()
    }

    private func next() -> Item? {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        return queue.isSuspended ? nil : pending.popFirst()
    }

    private func run(_ item: Item) {
        HiddenFromSanitizer.begin()
        if let thread = scheduler.caller {
            // Another thread may run between two jobs.
            scheduler.point(thread)
            scheduler.log?.follow(item.step)
            note(.acquires, thread)
            scheduler.trace?.add(thread, .begins(name))
        }
        HiddenFromSanitizer.end()
        item.run()
        HiddenFromSanitizer.begin()
        if let thread = scheduler.caller { note(.releases, thread) }
        HiddenFromSanitizer.end()
    }

    private func note(_ kind: Access.Kind, _ thread: SimulatedThread) {
        scheduler.log?.add(.writes, queue.word)
        scheduler.pass(kind, queue.word, by: thread)
    }

    private func didEnd() {
        HiddenFromSanitizer.begin()
        active -= 1
        isExclusive = false
        startJobs()
        HiddenFromSanitizer.end()
    }

    /// Drops the jobs.
    func close() { pending = [] }
}

/// A job of a Dispatch queue that a thread is running.
struct DispatchFrame {
    let queue: SimulatedDispatchQueue
    let isExclusive: Bool
}
