/// The groups of measurements, named as on the command line.
enum Suite: String, CaseIterable {
    // Fairness comes first: after jobs that have slept, the global queue keeps more threads than
    // processors.
    case fairness
    case serial, limited, barrier, delays, inline, section, coordinator, locals, async, virtual,
        bytes
    case simulation, faults, pool, grounds, work, queues, tasks, recording,
        references, energy, scale

    static let names = allCases.map(\.rawValue)

    var title: String {
        switch self {
        case .serial: "Serial views beside serial dispatch queues"
        case .limited: "Limited views beside OperationQueue"
        case .barrier: "Barrier views beside concurrent dispatch queues"
        case .delays: "Delays beside asyncAfter"
        case .inline: "The immediate context"
        case .locals: "Thread-local values"
        case .async: "Async beside tasks and continuations"
        case .virtual: "Virtual time, in seconds for all"
        case .bytes: "Memory"
        case .simulation: "Simulation"
        case .faults: "Faults of plain Swift programs, by chance and by search"
        case .scale: "How costs grow"
        case .energy: "At rest: the pool and its timer beside Dispatch"
        case .references: "Objects and reference counts of an operation"
        case .recording: "Observers and recorders beside none"
        case .pool: "The pool beside the global queue"
        case .fairness: "Beside jobs that submit themselves again: the pool and the global queue"
        case .grounds: "Over the pool (ours) beside over the global context (theirs)"
        case .work: "Shared work by key beside an actor with tasks"
        case .tasks: "Semaphores of tasks and channels beside an actor and AsyncStream"
        case .queues: "Queues with priorities beside OperationQueue, and limiters"
        case .section: "The critical section beside NSRecursiveLock"
        case .coordinator: "The coordinator beside a concurrent queue and pthread_rwlock"
        }
    }

    func run(_ bench: Bench) {
        switch self {
        case .serial: ViewBenchmarks.serial(bench)
        case .limited: ViewBenchmarks.limited(bench)
        case .barrier: ViewBenchmarks.barrier(bench)
        case .delays: DelayBenchmarks.run(bench)
        case .inline: InlineBenchmarks.run(bench)
        case .locals: ThreadLocalBenchmarks.run(bench)
        case .async: AsyncBenchmarks.run(bench)
        case .virtual: VirtualBenchmarks.run(bench)
        case .bytes: InlineBenchmarks.bytes(bench)
        case .simulation: SimulationBenchmarks.run(bench)
        case .faults: PlainTaskBenchmarks.faults(bench)
        case .pool:
            PoolBenchmarks.run(bench)
            PoolsAtWork.run(bench)
        case .fairness: PoolFairness.run(bench)
        case .tasks: TaskLimitBenchmarks.run(bench)
        case .grounds: GroundBenchmarks.run(bench)
        case .work: FlightBenchmarks.run(bench)
        case .queues: WorkQueueBenchmarks.run(bench)
        case .scale: ScaleBenchmarks.run(bench)
        case .energy: EnergyBenchmarks.run(bench)
        case .references: ReferenceBenchmarks.run(bench)
        case .recording: RecordingBenchmarks.run(bench)
        case .section: SectionBenchmarks.run(bench)
        case .coordinator:
            CoordinatorBenchmarks.run(bench)
            BiasBenchmarks.run(bench)
        }
    }
}
