import ExecutionContexts
import ExecutionContextsTesting

/// Pools of connections and their locks, in the style of JaConTeBe.
extension SeededBug {
    static let suitePools: [SeededBug] = [
        evictedWhileClosed, closedUnderLock, sameKeyTwice, returnedTwice, returnedToClosed,
        unlockedReturn,
    ]

    /// An evictor locks the pool and then a connection, and a caller that closes the connection
    /// locks both in the opposite order.
    ///
    /// As `dbcp-65` and `dbcp-270` of JaConTeBe.
    static let evictedWhileClosed = SeededBug("pool and connection crossed", .deadlock, depth: 1) {
        sim, isMended in
        let pool = ReadWriteCoordinator(name: "pool", writesOn: sim.serial(named: "writes"))
        let connection = CriticalSection(name: "connection")
        let (idle, isOpen) = (Tracked(0, name: "idle"), Tracked(true, name: "open"))
        sim.spawn("caller") {
            let giveBack = { @Sendable in pool.blockingWrite { idle.value += 1 } }
            connection.execute {
                isOpen.value = false
                if !isMended { giveBack() }
            }
            if isMended { giveBack() }
        }
        sim.spawn("evictor") {
            pool.blockingWrite { connection.execute { if isOpen.value { isOpen.value = false } } }
        }
    }

    /// A connection notifies the main context of its end, and waits there, while it holds its lock.
    ///
    /// As `derby-5560` of JaConTeBe.
    static let closedUnderLock = SeededBug("listener waits for the lock", .deadlock, depth: 1) {
        sim, isMended in
        let (main, connection) = (sim.main, CriticalSection(name: "connection"))
        let (isOpen, closed) = (Tracked(true, name: "open"), Tracked(0, name: "closed"))
        sim.spawn("caller") {
            let notify = { @Sendable in main.sync { closed.value += 1 } }
            connection.execute {
                isOpen.value = false
                if !isMended { notify() }
            }
            if isMended { notify() }
        }
        sim.spawn("screen") {
            main.execute { connection.execute { if isOpen.value { closed.value -= 1 } } }
        }
    }

    /// A data source takes the next free key in one step, and registers under it in another.
    ///
    /// As `dbcp-369` of JaConTeBe.
    static let sameKeyTwice = SeededBug("two data sources with one key", .invariant, depth: 1) {
        sim, isMended in
        let sources = LockedResource([Int: String](), lockedBy: .coordinator(named: "sources"))
        for name in ["orders", "users"] {
            sim.spawn(name) {
                if isMended { return sources.mutate { $0[$0.count] = name } }
                let key = sources.read { $0.count }
                sources.mutate { $0[key] = name }
            }
        }
        sim.finally("both are registered") { sources.read { $0.count } == 2 }
    }

    /// Two threads close one connection, each finds it not closed, and it is in the pool twice.
    ///
    /// As the connection pools of JaConTeBe.
    static let returnedTwice = SeededBug("connection returned twice", .invariant, depth: 1) {
        sim, isMended in
        let (section, isClosed) = (CriticalSection(name: "pool"), Tracked(false, name: "closed"))
        let idle = Tracked<[String]>([], name: "idle")
        for name in ["caller", "abandoned trace"] {
            sim.spawn(name) {
                let close = { @Sendable in
                    if isClosed.value { return }
                    isClosed.value = true
                    section.execute { idle.value += ["connection"] }
                }
                if isMended { section.execute(close) } else { close() }
            }
        }
        sim.invariant("a connection is idle once") { idle.value.count <= 1 }
    }

    /// A caller sees that the pool is open, and returns its connection to a pool that has closed.
    ///
    /// As `pool-120` of JaConTeBe.
    static let returnedToClosed = SeededBug("returned to a closed pool", .invariant, depth: 1) {
        sim, isMended in
        let (section, isClosed) = (CriticalSection(name: "pool"), Tracked(false, name: "closed"))
        let (idle, open) = (Tracked(0, name: "idle"), Tracked(1, name: "open"))
        sim.spawn("caller") {
            let giveBack = { @Sendable in
                if isClosed.value { open.value -= 1 } else { section.execute { idle.value += 1 } }
            }
            if isMended { section.execute(giveBack) } else { giveBack() }
        }
        sim.spawn("closer") {
            section.execute {
                isClosed.value = true
                open.value -= idle.value
                idle.value = 0
            }
        }
        sim.finally("no connection stays open") { open.value == 0 }
    }

    /// A connection is counted under the lock when it is lent, and without it when it is returned.
    ///
    /// As `pool-149` and `dbcp-271` of JaConTeBe.
    static let unlockedReturn = SeededBug("counted with and without the lock", .invariant, depth: 2)
    {
        sim, isMended in
        let (section, active) = (CriticalSection(name: "pool"), Tracked(0, name: "active"))
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                section.execute { active.value += 1 }
                if isMended { section.execute { active.value -= 1 } } else { active.value -= 1 }
            }
        }
        sim.finally("none is lent") { active.value == 0 }
    }
}
