/// Runs work on a pool that the whole program shares.
///
/// Like `global` it runs many jobs at a time, in no order, but on the library's own workers instead
/// of the system's: see ``WorkerPool``. It is never shut down and refuses nothing.
@safe public struct PoolContext: ExecutionContext {
    // Unmanaged: the pool lives as long as the program, so its references need no count.
    private let reference: Unmanaged<PoolCore>
    private let priority: WorkPriority

    /// The shared pool, for jobs of one priority.
    public init(_ priority: WorkPriority = .medium) {
        unsafe reference = .passUnretained(Self.shared)
        self.priority = priority
    }

    public func execute(_ work: consuming @escaping Work) {
        submit(UnmanagedWork(consume work), isAccepted: false)
    }

    public func enqueue(_ work: consuming @escaping Work) {
        submit(UnmanagedWork(consume work), isAccepted: true)
    }

    @inline(__always)
    private func submit(_ work: UnmanagedWork, isAccepted: Bool) {
        unsafe reference._withUnsafeGuaranteedRef { core in
            if SimulationHooks.isAnywhere { return submitSimulated(work, isAccepted) }
            _ = core.submit(work, priority, isAccepted: isAccepted)
        }
    }

    @inline(never)
    private func submitSimulated(_ work: UnmanagedWork, _ isAccepted: Bool) {
        let work = work.assembled()
        if unsafe SimulationHooks.submit(work, for: Frame.owner(core), named: name) { return }
        _ = core.submit(UnmanagedWork(consume work), priority, isAccepted: isAccepted)
    }

    /// True in the shared pool's jobs, false elsewhere; the one exception is that of law 4.
    public var isCurrent: Bool? { unsafe Frame.isCurrent(Frame.owner(core)) }

    public var runsAnywhere: Bool { true }

    public var facts: ContextFacts {
        var facts = ContextFacts { [core] in core.foresee(&$0) }
        facts.isReliable = true
        return facts
    }

    public var name: String { priority == .medium ? core.name : "\(core.name)(\(priority))" }

    /// The same pool, for jobs of another priority.
    public func prioritized(_ priority: WorkPriority) -> PoolContext { PoolContext(priority) }

    /// What the pool is doing, and what it has done since it was made.
    public var statistics: PoolStatistics { PoolStatistics(of: core) }

    private var core: PoolCore { unsafe reference._withUnsafeGuaranteedRef { $0 } }

    private static let shared = SimulationHooks.making {
        PoolCore(
            name: "pool", width: min(Processors.count, LibraryThreads.limit),
            limit: min(max(64, Processors.count), LibraryThreads.limit), qos: 0x15)
    }
}

extension ExecutionContext where Self == PoolContext {
    /// The library's own workers, shared by the whole program.
    public static var pool: PoolContext { PoolContext() }
}
