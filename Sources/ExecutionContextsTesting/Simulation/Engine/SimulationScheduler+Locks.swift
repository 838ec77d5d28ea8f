internal import CSimulation
internal import ExecutionContexts

// Locks and conditions of the system, which code of the program uses as it is.
//
// The simulation sees a thread queue for a lock of the library. A lock of the system it cannot see
// into: the thread tries to take it, and waits in the simulation while the try fails.
extension SimulationScheduler {
    /// A thread is about to take a lock, or to use a condition, at a scheduling point.
    func willLock(_ lock: SystemLock, by thread: SimulatedThread, waits: Bool) {
        let word = lock.word
        if names.name(of: word) == nil {
            names.add(word, lock.isCondition ? "a condition" : "a lock")
        }
        guard lock.kind == ecs_mutex else {
            // Several threads may read, or wait, at a time. Not all orders of that are tried.
            point(thread, for: Intent(lock.kind == ecs_reads ? .reads : .writes, word))
            log?.add(.writes, word)
            if log?.isOpen == true { chooser.orders?.isCut = true }
            return
        }
        // Opposite orders alone are no finding: what guards them, as a Mutex, may be unseen.
        if waits { thread.entering = .system(lock) }
        point(thread, for: Intent(.writes, word))
        thread.entering = nil
        // No other thread runs between this check and the operation that follows.
        let isTaken = lock.isTaken
        if isTaken || !waits { log?.add(.writes, word) }
        if waits { return }
        if isTaken { trace?.add(thread, .isRefused(name(of: lock))) }
        // A section without a scheduling point runs as a whole, and no try finds it taken.
        if log?.isOpen == true { chooser.orders?.isCut = true }
    }

    func didLock(_ lock: SystemLock, by thread: SimulatedThread) {
        thread.locks.append(lock)
        if lock.kind == ecs_mutex { log?.add(.acquires, lock.word) }
        trace?.add(thread, .enters(name(of: lock)))
    }

    func didUnlock(_ lock: SystemLock, by thread: SimulatedThread) {
        if let index = thread.locks.lastIndex(where: { $0.word == lock.word }) {
            thread.locks.remove(at: index)
        }
        log?.add(.releases, lock.word)
        trace?.add(thread, .leaves(name(of: lock)))
    }

    /// A lock, a condition or an atomic is gone. Another object may have its address.
    func didFree(_ word: Word) {
        for thread in threads where !thread.locks.isEmpty {
            thread.locks.removeAll { $0.word == word }
        }
        names.forget(word)
        objects.forget(word)
        log?.forget(word)
    }

    /// A thread takes a lock of which nothing is known. It may know all that has happened, and the
    /// orders of these locks are not tried. In a program with tasks, the orders of all steps are.
    ///
    /// A thread that polls takes it again and again, as `waitUntilAllOperationsAreFinished` does.
    /// What it waits for is the work of another one, which may wait for the same lock.
    func willLockUnseen(_ lock: SystemLock?, by thread: SimulatedThread) {
        if let lock {
            thread.unseenLocks += 1
            let polls = thread.unseenLocks == Self.mostUnseenLocks
            if polls || lockWaiters != 0 && !lock.isTaken && isAwaited(lock) { giveTurn(thread) }
        }
        memory?.synchronize(thread.id)
        if let log, log.isOpen, !log.hasTasks { chooser.orders?.isCut = true }
    }

    /// More than Foundation takes for any call of its own.
    private static let mostUnseenLocks = 1_000

    private func isAwaited(_ lock: SystemLock) -> Bool {
        threads.contains { thread in
            guard case .systemLock(let awaited) = thread.wait else { return false }
            return awaited.word == lock.word
        }
    }

    /// Releases the locks of threads that never continue: the next schedule may use the same static
    /// ones. The stack of such a thread stays, and keeps its locks alive. Those of an ended thread
    /// may be gone.
    func giveBackLocks() {
        for thread in threads where !thread.isDone {
            while let lock = thread.locks.popLast() {
                lock.giveBack(from: thread.host?.systemNumber ?? 0)
            }
        }
    }

    /// Its name in messages; they are numbered in the order of their first use.
    func name(of lock: SystemLock) -> String {
        if lock.isExpectation { return "an expectation" }
        return names.name(of: lock.word)
            ?? (lock.isCondition ? "a condition of the system" : "a lock of the system")
    }

    /// Whether a thread that is about to take a lock would have to wait for another one.
    func isTaken(_ lock: SimulatedThread.EnteredLock, for thread: SimulatedThread) -> Bool {
        switch lock {
        case .own(let word): word.holder != 0
        case .system(let lock): holder(of: lock, for: thread).map { $0 !== thread } ?? false
        }
    }

    /// Runs other threads until a system lock is free, a condition is signalled or the deadline
    /// passes.
    func wait(_ thread: SimulatedThread, for lock: SystemLock, until deadline: Int64) -> ecs_end {
        guard phase != .over else { return ecs_not_waited }
        if !lock.isCondition {
            guard let holder = holder(of: lock, for: thread) else { return ecs_not_waited }
            // The library traps with a message of its own.
            if holder === thread && lock.trapsOnReentry { return ecs_not_waited }
        }
        if lock.trapsOnReentry && hosts.order == nil { hosts.met.insert(.mutex) }
        let deadline = lock.isExpectation ? expectationLimit(of: thread) : deadline
        step(thread)
        thread.wait = .systemLock(lock)
        thread.deadline = deadline
        thread.isSignalled = false
        thread.waitNumber = steps
        let name = name(of: lock)
        trace?.add(thread, lock.isCondition ? .waits(name) : .isRefused(name))
        lockWaiters |= 1 << UInt64(thread.id)
        if deadline != .max { timed |= 1 << UInt64(thread.id) }
        pass(from: thread, choose(thread, stays: false))
        lockWaiters &= ~(1 << UInt64(thread.id))
        timed &= ~(1 << UInt64(thread.id))
        thread.wait = .nothing
        chooser.orders?.isCut = true
        memory?.synchronize(thread.id)
        return isOver(lock, thread) ? ecs_free : ecs_late
    }

    /// When XCTest looks again whether it has waited long enough: at the limit that its watchdog
    /// implies. Where that comes too early, since a limit of Dispatch may be rounded, soon again.
    private func expectationLimit(of thread: SimulatedThread) -> Int64 {
        let limit = thread.expectationLimit
        if limit > now { return limit }
        return limit > now - Self.slopOfXCTest ? now + 1_000_000 : .max
    }

    /// How long after the limit of a wait XCTest's watchdog comes.
    static let slopOfXCTest: Int64 = 250_000_000

    /// Ends the wait of the thread that has waited longest for a condition, or of all of them.
    func didSignal(_ condition: SystemLock, toAll: Bool) {
        chooser.orders?.isCut = true
        let waiting = threads.filter { thread in
            guard lockWaiters & 1 << UInt64(thread.id) != 0, !thread.isSignalled,
                case .systemLock(let lock) = thread.wait
            else { return false }
            return lock.isCondition && lock.word == condition.word
        }.sorted { $0.waitNumber < $1.waitNumber }
        for thread in toAll ? waiting[...] : waiting.prefix(1) { thread.isSignalled = true }
    }

    func isOver(_ lock: SystemLock, _ thread: SimulatedThread) -> Bool {
        switch lock.kind {
        // A thread outside may have taken it meanwhile: then the system has to wait.
        case ecs_mutex:
            !lock.isTaken || thread.deadline == .max && holder(of: lock, for: thread) == nil
        case ecs_condition, ecs_expectation: thread.isSignalled
        default: holder(of: lock, for: thread) == nil
        }
    }

    /// The thread for which another one has to wait that takes a lock of the system.
    ///
    /// A thread that reads waits for itself if it is about to write. One that writes does not: the
    /// system refuses a second entry with an error.
    func holder(of lock: SystemLock, for waiter: SimulatedThread) -> SimulatedThread? {
        let (number, word) = (lock.holder, lock.word)
        let known = threads.first { thread in
            thread.locks.contains { held in
                guard held.word == word else { return false }
                switch (lock.kind, held.kind) {
                case (ecs_reads, ecs_reads): return false
                case (ecs_mutex, _), (_, ecs_reads): return true
                default: return thread !== waiter
                }
            }
        }
        guard known == nil, lock.kind == ecs_mutex, number != 0 else { return known }
        return threads.first { !$0.isDone && $0.host?.systemNumber == number }
    }
}
