internal import CPlatform

extension WorkerPool {
    /// Returns an `Async` that completes when no job of the pool runs or is queued.
    ///
    /// Jobs that its jobs submit count; delays that are not due do not. It completes at the first
    /// idle moment; a pool that is fed without pause may never be idle. A job of the pool that
    /// blocks its thread for this would wait for itself, so it traps (law 27).
    public func drained() -> Async<Void> {
        let state = DrainedState(of: core)
        core.whenDone { state.complete(with: ()) }
        return Async(state: state)
    }

    /// Refuses all further jobs; returns an `Async` that completes when all accepted jobs have run.
    ///
    /// After this call `tryExecute` throws, `run` and `submit` complete with a ``Refusal``, and
    /// `execute` traps. Accepted jobs run in any case, also delays that are not due yet and later
    /// drains of views. All priorities of the pool are shut down together. A second call has no
    /// further effect, and its `Async` completes when the first one's does.
    @discardableResult
    public func shutDown() -> Async<Void> {
        core.close()
        return drained()
    }
}

/// The future state that completes when a pool has no jobs left.
@safe private final class DrainedState: FutureState, @unchecked Sendable {
    // Unchecked because its superclass is; it adds constants only. The owner is only compared, and
    // the pool lives while this is pending.
    private let owner: Frame.Owner
    private let pool: String

    init(of core: PoolCore) {
        unsafe owner = Frame.owner(core)
        pool = core.name
        super.init()
    }

    override var obstacle: String? {
        guard unsafe Frame.isCurrent(owner) else { return nil }
        return "it completes when no job of '\(pool)' is left, and the caller is one"
    }

    override var label: String { "the end of all jobs of '\(pool)'" }
}
