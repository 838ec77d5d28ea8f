import ExecutionContexts
import ExecutionContextsTesting

/// Sections that are entered in the wrong order, left too early, or not entered at all.
extension SeededBug {
    static let locks: [SeededBug] = [
        .crossedLocks, threeLocks, crossedContexts, splitWithdrawal, doubleChecked, limitExceeded,
        closedInUse,
        window,
    ]

    /// Two threads take two locks, in opposite orders.
    package static let crossedLocks = SeededBug("AB-BA", .deadlock, depth: 1) { sim, isMended in
        let (left, right) = (CriticalSection(name: "left"), CriticalSection(name: "right"))
        sim.spawn("alice") { left.execute { right.execute {} } }
        sim.spawn("bob") {
            if isMended {
                left.execute { right.execute {} }
            } else {
                right.execute { left.execute {} }
            }
        }
    }

    /// Three neighbours take the fork on the left, and then the one on the right.
    static let threeLocks = SeededBug("three locks in a circle", .deadlock, depth: 2) {
        sim, isMended in
        let forks = (0..<3).map { CriticalSection(name: "fork \($0)") }
        for seat in 0..<3 {
            let (first, second) = (forks[seat], forks[(seat + 1) % 3])
            let isSwapped = isMended && seat == 2
            sim.spawn("philosopher \(seat)") {
                (isSwapped ? second : first).execute { (isSwapped ? first : second).execute {} }
            }
        }
    }

    /// The main context waits for the database, whose job waits for the main context.
    static let crossedContexts = SeededBug("two contexts wait for each other", .deadlock, depth: 0)
    {
        sim, isMended in
        let (main, database) = (sim.main, sim.serial(named: "database"))
        let (title, rows) = (Tracked("", name: "title"), Tracked(0, name: "rows"))
        sim.spawn("screen") { main.execute { database.sync { rows.value += 1 } } }
        sim.spawn("migration") {
            database.execute {
                let show: Work = { title.value = "migrated" }
                if isMended { main.execute(show) } else { main.sync(show) }
            }
        }
    }

    /// The balance is checked and changed under the lock, but the lock is released in between.
    static let splitWithdrawal = SeededBug("lock left between look and act", .invariant, depth: 1) {
        sim, isMended in
        let (section, balance) = (CriticalSection(name: "account"), Tracked(100, name: "balance"))
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                if isMended {
                    section.execute { if balance.value >= 80 { balance.value -= 80 } }
                } else if section.execute({ balance.value >= 80 }) {
                    section.execute { balance.value -= 80 }
                }
            }
        }
        sim.invariant("never below zero") { balance.value >= 0 }
    }

    /// The flag that avoids the lock is set before the value that it announces.
    static let doubleChecked = SeededBug("double-checked initialisation", .invariant, depth: 1) {
        sim, isMended in
        let section = CriticalSection(name: "making")
        let (isMade, made) = (Tracked(false, name: "is made"), Tracked<String?>(nil, name: "made"))
        let sawNothing = Tracked(false, name: "saw nothing")
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                if !isMade.value {
                    section.execute {
                        guard !isMade.value else { return }
                        if isMended { made.value = "parser" }
                        isMade.value = true
                        if !isMended { made.value = "parser" }
                    }
                }
                if made.value == nil { sawNothing.value = true }
            }
        }
        sim.invariant("a thread that sees the flag finds the value") { !sawNothing.value }
    }

    /// A limiter compares its count in one step and increments it in another.
    static let limitExceeded = SeededBug("limit of two exceeded", .invariant, depth: 2) {
        sim, isMended in
        let (section, running) = (CriticalSection(name: "limiter"), Tracked(0, name: "running"))
        for index in 1...3 {
            sim.spawn("download \(index)") {
                let enter = { @Sendable () -> Bool in
                    guard running.value < 2 else { return false }
                    running.value += 1
                    return true
                }
                guard isMended ? section.execute(enter) : enter() else { return }
                sim.step()
                section.execute { running.value -= 1 }
            }
        }
        sim.invariant("two at most") { running.value <= 2 }
    }

    /// A resource has no user when that is checked, and a new one when it is closed.
    static let closedInUse = SeededBug("resource closed while in use", .invariant, depth: 3) {
        sim, isMended in
        let section = CriticalSection(name: "users")
        let (users, isOpen, isWrong) = (
            Tracked(0, name: "users"), Tracked(true, name: "open"),
            Tracked(false, name: "read of closed")
        )
        sim.spawn("reader") {
            let isIn = section.execute {
                if isOpen.value { users.value += 1 }
                return isOpen.value
            }
            guard isIn else { return }
            if !isOpen.value { isWrong.value = true }
            section.execute { users.value -= 1 }
        }
        sim.spawn("janitor") {
            if isMended {
                section.execute { if users.value == 0 { isOpen.value = false } }
            } else if section.execute({ users.value == 0 }) {
                section.execute { isOpen.value = false }
            }
        }
        sim.invariant("no reader uses a closed resource") { !isWrong.value }
    }

    /// A reader checks that the version is unchanged; after 21 steps of the writer it is the same.
    static let window = SeededBug("a window of twenty-one steps", .invariant, depth: 2) {
        sim, isMended in
        let (version, value) = (Tracked(0, name: "version"), Tracked(0, name: "value"))
        let isTorn = Tracked(false, name: "torn")
        let wrap = isMended ? Int.max : 14
        sim.spawn("writer") {
            for round in 1...7 {
                version.value = (2 * round - 1) % wrap
                value.value = round
                version.value = 2 * round % wrap
            }
        }
        sim.spawn("reader") {
            let before = version.value
            guard before % 2 == 0 else { return }
            let (left, right) = (value.value, value.value)
            if version.value == before && left != right { isTorn.value = true }
        }
        sim.invariant("what is read is whole") { !isTorn.value }
    }
}
