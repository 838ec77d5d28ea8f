internal import CPlatform

extension WorkerPool {
    /// Ends when nothing runs in the pool and nothing waits; work of its own work included.
    ///
    /// It has to happen once: a pool that is fed without pause may never be idle. Delays that are
    /// not due do not count. A job of the pool that blocks its thread for this would wait for
    /// itself, so it stops the program (law 27).
    public func drained() -> Async<Void> {
        let cell = DrainedCell(of: core)
        core.whenDone { cell.end(with: ()) }
        return Async(cell: cell)
    }

    /// Takes no more work from now on; ends when what has been accepted has run.
    ///
    /// From now on `tryExecute` throws, `run` and `submit` resolve with a ``Refusal`` and `execute` stops the program. What
    /// has been accepted runs in any case, the delays and the views' turns that come later, too. It is the same for
    /// all priorities of the pool. A second call changes nothing, and ends when the first does.
    @discardableResult
    public func shutDown() -> Async<Void> {
        core.close()
        return drained()
    }
}

/// The future state of the end of a pool's work.
@safe private final class DrainedCell: AsyncCell, @unchecked Sendable {
    // Unchecked for the superclass; constants only. The owner is compared, and the pool lives while
    // this is pending.
    private let owner: Frame.Owner
    private let pool: String

    init(of core: PoolCore) {
        unsafe owner = Frame.owner(core)
        pool = core.name
        super.init()
    }

    override var obstacle: String? {
        guard unsafe Frame.isCurrent(owner) else { return nil }
        return "it ends when no job of '\(pool)' is left, and the caller is one"
    }

    override var label: String { "the end of all jobs of '\(pool)'" }
}
