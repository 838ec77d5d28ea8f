import ExecutionContexts
import ExecutionContextsTesting

/// Waiters that no thread wakes, and objects that no thread gets, as in JaConTeBe and GoBench.
extension SeededBug {
    static let suiteDeadPools: [SeededBug] = [
        dispatcherLocked, deadDispatcher, wrongKeyWoken, lostHandOff, leavingWorker,
        forgottenWaiters,
    ]

    /// A logger waits for room in a buffer while it holds the lock that the dispatcher needs.
    ///
    /// As `log4j-38137` of JaConTeBe.
    static let dispatcherLocked = SeededBug("waits for room with the lock", .lostWakeUp, depth: 1) {
        sim, isMended in
        let appenders = CriticalSection(name: "appenders")
        let (buffer, written) = (Monitor<[Int]>([], name: "buffer"), Tracked(0, name: "written"))
        sim.spawn("logger") {
            for line in 1...2 {
                sim.yield()
                let put = { @Sendable in
                    try buffer.wait(until: { $0.isEmpty }) { $0.append(line) }
                    buffer.notifyAll()
                }
                if isMended { try put() } else { try appenders.execute(put) }
            }
        }
        sim.spawn("dispatcher") {
            for _ in 1...2 {
                let line = try buffer.wait(until: { !$0.isEmpty }) { $0[0] }
                appenders.execute { written.value = line }
                buffer.change { $0.removeAll() }
                buffer.notifyAll()
            }
        }
    }

    /// The dispatcher ends without notifying the logger that waits for room.
    ///
    /// As `log4j-50463` of JaConTeBe.
    static let deadDispatcher = SeededBug(
        "waits for a dispatcher that ended", .lostWakeUp, depth: 1
    ) {
        sim, isMended in
        let buffer = Monitor((lines: 0, isDead: false), name: "buffer")
        let isInterrupted = Tracked(false, name: "interrupted")
        sim.spawn("logger") {
            for _ in 1...2 {
                try buffer.wait(until: { $0.lines == 0 || $0.isDead }) { $0.lines += 1 }
                buffer.notifyAll()
            }
        }
        sim.spawn("dispatcher") {
            for _ in 1...2 {
                if isInterrupted.value {
                    buffer.change { $0.isDead = isMended }
                    return buffer.notifyAll()
                }
                try buffer.wait(until: { $0.lines > 0 }) { $0.lines = 0 }
                buffer.notifyAll()
            }
        }
        sim.spawn("servlet") { isInterrupted.value = true }
    }

    /// A returned object wakes the caller that has waited longest, which waits for another key.
    ///
    /// As `pool-146` of JaConTeBe.
    static let wrongKeyWoken = SeededBug("caller with another key woken", .lostWakeUp, depth: 3) {
        sim, isMended in
        let idle = Monitor<Set<String>>([], name: "idle")
        for key in ["red", "blue"] {
            sim.spawn("borrows \(key)") {
                try idle.wait(until: { $0.contains(key) }) { _ = $0.remove(key) }
            }
        }
        sim.spawn("returns") {
            for key in ["red", "blue"] {
                idle.change { _ = $0.insert(key) }
                if isMended { idle.notifyAll() } else { idle.notifyOne() }
            }
        }
    }

    /// A borrower gives up at its time limit, and an object is then handed to it.
    ///
    /// As `pool-162` of JaConTeBe.
    static let lostHandOff = SeededBug(
        "object handed to a caller that left", .invariant, depth: 2, time: .racing
    ) { sim, isMended in
        let (section, waiter) = (CriticalSection(name: "pool"), Promise<Int>())
        let (waiters, idle) = (Tracked([waiter], name: "waiters"), Tracked(0, name: "idle"))
        sim.spawn("borrower") {
            do {
                _ = try waiter.async.wait(timeout: .seconds(1))
            } catch {
                // An object that was handed over at this moment is still taken.
                if !isMended || waiter.fail(error) { return }
            }
            section.execute { idle.value += 1 }
        }
        sim.spawn("returner") {
            let first = section.execute { waiters.value.first }
            if first?.succeed(7) != true { section.execute { idle.value += 1 } }
        }
        sim.finally("the object is idle") { idle.value == 1 }
    }

    /// A worker that leaves after its time limit counts as idle until it has left, so a job that
    /// comes meanwhile gets no worker.
    ///
    /// As the hand-off faults of the JDK in JaConTeBe.
    static let leavingWorker = SeededBug(
        "job for a worker that is leaving", .invariant, depth: 2, time: .racing
    ) { sim, isMended in
        let section = CriticalSection(name: "pool")
        let (idle, handed) = (Tracked(1, name: "idle"), Promise<Void>())
        let ran = Tracked(0, name: "jobs that ran")
        sim.spawn("worker") {
            do {
                try handed.async.wait(timeout: .seconds(60))
            } catch {
                let isLeaving = section.execute {
                    defer { idle.value = 0 }
                    return idle.value == 1
                }
                if isLeaving || !isMended { return }
            }
            section.execute { ran.value += 1 }
        }
        sim.spawn("caller") {
            let isHanded = section.execute {
                guard idle.value == 1 else { return false }
                idle.value = 0
                return true
            }
            if isHanded { handed.succeed(()) } else { section.execute { ran.value += 1 } }
        }
        sim.finally("the job has run") { ran.value == 1 }
    }

    /// A plug-in that fails does not notify the callers that wait until it is active.
    ///
    /// As `moby_29733` of GoBench.
    static let forgottenWaiters = SeededBug("failure without a notification", .lostWakeUp, depth: 1)
    {
        sim, isMended in
        let plugin = Monitor<Bool?>(nil, name: "is active")
        let isRemoved = Tracked(false, name: "removed")
        sim.spawn("caller") { try plugin.wait(until: { $0 != nil }) { _ in } }
        sim.spawn("activation") {
            let isActive = !isRemoved.value
            plugin.change { $0 = isActive }
            if isActive || isMended { plugin.notifyAll() }
        }
        sim.spawn("removal") { isRemoved.value = true }
    }
}
