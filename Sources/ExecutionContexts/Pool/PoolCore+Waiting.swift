internal import Synchronization

// What becomes of a worker that waits.
extension PoolCore {
    /// The calling thread, which is this worker, is about to wait: another one may take its place.
    func beginWait(_ worker: PoolWorker) {
        roster.withLock { roster in
            unsafe worker.place.waits += 1
            roster.discount(worker)
            publish(roster)
        }
        // What it has added and not begun must not wait for it. The lock orders this after what it added.
        if worker.ring.count > 0 || hasWork() { callIfShort() }
    }

    /// It goes on. There may be one too many now, until somebody has ended a piece.
    func endWait(_ worker: PoolWorker) {
        roster.withLock { roster in
            unsafe worker.place.waits -= 1
            if unsafe worker.place.waits == 0 && worker.place.isActive { roster.count(worker) }
            publish(roster)
        }
    }
}
