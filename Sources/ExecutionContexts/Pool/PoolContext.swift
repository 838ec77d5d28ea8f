/// Runs work on a pool that the whole program shares.
///
/// It is what `global` is, many pieces at a time and no order among them, with the library's own workers instead of
/// the system's: see ``WorkerPool``. It is never shut down, and refuses nothing.
@safe public struct PoolContext: ExecutionContext, ForeseeingContext {
    // The pool lives as long as the program, so nobody need count references to it.
    private let reference: Unmanaged<PoolCore>
    private let priority: WorkPriority

    /// The shared pool, for work of one priority.
    public init(_ priority: WorkPriority = .medium) {
        unsafe reference = .passUnretained(Self.shared)
        self.priority = priority
    }

    public func execute(_ work: consuming @escaping Work) {
        let work = LooseWork(consume work)
        unsafe reference._withUnsafeGuaranteedRef { core in
            if Seam.isAnywhere { return executeSimulated(work) }
            _ = core.submit(work, priority)
        }
    }

    @inline(never)
    private func executeSimulated(_ work: LooseWork, isAccepted: Bool = false) {
        let work = work.assembled()
        if unsafe Seam.submit(work, for: Frame.owner(core)) { return }
        _ = core.submit(LooseWork(consume work), priority, isAccepted: isAccepted)
    }

    public func enqueue(_ work: consuming @escaping Work) {
        let work = LooseWork(consume work)
        unsafe reference._withUnsafeGuaranteedRef { core in
            if Seam.isAnywhere { return executeSimulated(work, isAccepted: true) }
            _ = core.submit(work, priority, isAccepted: true)
        }
    }

    /// Yes in the shared pool's work, no elsewhere; the one exception is law 4's.
    public var isCurrent: Bool? { unsafe Frame.isCurrent(Frame.owner(core)) }

    public var runsAnywhere: Bool { true }

    package func foresee(_ outlook: inout Outlook) { core.foresee(&outlook) }

    public var name: String { priority == .medium ? core.name : "\(core.name)(\(priority))" }

    /// The same pool for work of another priority.
    public func prioritized(_ priority: WorkPriority) -> PoolContext { PoolContext(priority) }

    /// What the pool is doing, and what it has done.
    public var statistics: PoolStatistics { PoolStatistics(of: core) }

    private var core: PoolCore { unsafe reference._withUnsafeGuaranteedRef { $0 } }

    private static let shared = Seam.making {
        PoolCore(
            name: "pool", width: min(Processors.count, OwnThreads.limit),
            limit: min(max(64, Processors.count), OwnThreads.limit), quality: 0x15)
    }
}

extension PoolContext: ReliableContext {}

extension ExecutionContext where Self == PoolContext {
    /// The library's own workers, shared by the whole program.
    public static var pool: PoolContext { PoolContext() }
}
