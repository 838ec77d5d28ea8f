internal import CPlatform
internal import Dispatch
internal import Synchronization

/// Looks at a pool every five milliseconds for as long as it has anything to do.
///
/// Waiting that the library knows of makes room for another worker at once. What this finds is the rest: pieces that block
/// in the system, or wait for each other by means of their own.
@safe final class PoolWatch: Sendable {
    private let queue: DispatchQueue
    private let isOn = Atomic<Bool>(false)

    static var tick: Int { 5_000_000 }

    init(name: String) { queue = DispatchQueue(label: "\(name).watch", qos: .userInteractive) }

    /// The pool has something to do.
    func begin(_ core: PoolCore) {
        // Relaxed, here and below: a watch that goes on looks at the roster under its lock, and so does who begins one.
        if isOn.exchange(true, ordering: .relaxed) { return }
        look(at: core)
    }

    private func look(at core: PoolCore) {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Self.tick)) {
            if core.lookAfterWorkers() { return self.look(at: core) }
            _ = self.isOn.exchange(false, ordering: .sequentiallyConsistent)
            // Somebody may have come between the look and the exchange, and found the watch on.
            if core.isAwake { self.begin(core) }
        }
    }
}

extension PoolCore {
    var isAwake: Bool { roster.withLock { $0.active > 0 } }

    /// Finds out who is stuck, and calls others in their place; false if nobody has a thread.
    func lookAfterWorkers() -> Bool {
        let hasWork = hasWork()
        let isActive = roster.withLock { roster in
            var (stuck, isGettingOn) = (0, false)
            for index in 0..<count {
                let worker = worker(index)
                guard unsafe worker.place.isActive else { continue }
                let isStuck = look(at: worker)
                if isStuck { roster.discount(worker) }
                if unsafe !worker.place.isCounted { stuck += 1 }
                if unsafe worker.place.isCounted { isGettingOn = true }
            }
            // Where all are stuck, those who come next will be as well, most likely: as many again at a time.
            roster.extra = hasWork && !isGettingOn ? max(stuck - width, 0) : 0
            publish(roster)
            return roster.active > 0
        }
        if hasWork {
            // Relaxed: a hint, which is read again under the lock.
            for _ in 0..<max(vacancies.load(ordering: .relaxed), 0) { callWorker() }
        }
        return isActive
    }

    /// Whether a worker that counts has been asleep in one piece since it was last looked at, as far as two looks show.
    /// The roster is locked.
    private func look(at worker: PoolWorker) -> Bool {
        let begun = worker.pieces
        // Not by its processor time, of which a busy machine gives it none: who computes sleeps at neither look.
        let sleeps = unsafe ec_thread_sleeps(worker.place.thread)
        let isSame = unsafe worker.place.seenBegun == begun && worker.place.seenAsleep
        unsafe worker.place.seenBegun = begun
        unsafe worker.place.seenAsleep = sleeps
        guard unsafe worker.place.isCounted, isSame, sleeps else { return false }
        // Relaxed: the worker reads it after each piece, and asks the roster.
        worker.isToReport.store(true, ordering: .relaxed)
        return true
    }

    /// A worker that was thought to be stuck has ended its piece.
    @inline(never)
    func report(_ worker: PoolWorker) {
        worker.isToReport.store(false, ordering: .relaxed)
        roster.withLock { roster in
            if unsafe worker.place.waits == 0 { roster.count(worker) }
            publish(roster)
        }
    }
}
