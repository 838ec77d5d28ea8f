import ExecutionContexts
import ExecutionContextsTesting

/// Async code that other code overtakes while it is suspended.
extension SeededBug {
    static let tasks: [SeededBug] = [
        overdraft, loadedTwice, writtenAfterCancel, unorderedTasks, loginRace,
    ]

    private actor Account {
        private(set) var balance = 100

        func withdraw(_ amount: Int, isMended: Bool, asking bank: @Sendable () async throws -> Void)
            async throws
        {
            if isMended { try await bank() }
            guard balance >= amount else { return }
            if !isMended { try await bank() }
            balance -= amount
        }
    }

    /// The actor is re-entered while it is suspended between check and act.
    static let overdraft = SeededBug("actor re-entered", .invariant, depth: 0) { sim, isMended in
        let (account, bank) = (Account(), sim.serial(named: "bank"))
        let balance = Tracked(100, name: "balance")
        for name in ["alice", "bob"] {
            sim.task(name) {
                try await account.withdraw(80, isMended: isMended) { try await bank.run {} }
                balance.value = await account.balance
            }
        }
        sim.finally("never below zero") { balance.value >= 0 }
    }

    private actor Cache {
        private var stored: Int?
        private var loading: Async<Int>?

        func value(isMended: Bool, _ load: @Sendable () -> Async<Int>) async throws -> Int {
            if let stored { return stored }
            let answer = isMended ? loading ?? load() : load()
            loading = answer
            let value = try await answer.get()
            stored = value
            return value
        }
    }

    /// Two tasks find the cache empty, and both load.
    static let loadedTwice = SeededBug("loaded twice", .invariant, depth: 0) { sim, isMended in
        let (cache, network, loads) = (
            Cache(), sim.serial(named: "network"), Tracked(0, name: "loads")
        )
        for name in ["alice", "bob"] {
            sim.task(name) {
                _ = try await cache.value(isMended: isMended) {
                    network.submit {
                        loads.value += 1
                        return 7
                    }
                }
            }
        }
        sim.finally("loaded once") { loads.value == 1 }
    }

    /// A task checks whether it is cancelled, and then submits a job that no cancel reaches.
    static let writtenAfterCancel = SeededBug("task goes on after its cancel", .invariant, depth: 0)
    {
        sim, isMended in
        let main = sim.main
        let (isGone, isWrong) = (
            Tracked(false, name: "gone"), Tracked(false, name: "shown when gone")
        )
        sim.spawn("screen") {
            let download = sim.global.submitTask {
                try Task.checkCancellation()
                let show: Work = { if isGone.value { isWrong.value = true } }
                if isMended { try await main.run(show) } else { main.execute(show) }
            }
            main.execute {
                download.cancel()
                isGone.value = true
            }
        }
        sim.invariant("nothing is shown after the cancel") { !isWrong.value }
    }

    /// Tasks are started in order, and run in any order.
    static let unorderedTasks = SeededBug("tasks in the wrong order", .invariant, depth: 1) {
        sim, isMended in
        let (log, lines) = (sim.serial(named: "log"), Tracked<[Int]>([], name: "lines"))
        sim.spawn("server") {
            if isMended {
                sim.task("both") {
                    for line in 1...2 { try await log.run { lines.value += [line] } }
                }
            } else {
                for line in 1...2 {
                    sim.task("line \(line)") { try await log.run { lines.value += [line] } }
                }
            }
        }
        sim.finally("in order") { lines.value == [1, 2] }
    }

    /// Two requests find the login expired and renew it; each renewal invalidates the other.
    static let loginRace = SeededBug("login renewed by two", .invariant, depth: 1) {
        sim, isMended in
        let (server, valid) = (sim.serial(named: "server"), Tracked(0, name: "valid login"))
        let (held, refusals) = (Tracked(-1, name: "held login"), Tracked(0, name: "refusals"))
        let renewing = sim.serial(named: "renewing")
        @Sendable func renew() {
            if isMended && held.value == valid.value { return }
            let fresh = valid.value + 1
            valid.value = fresh
            sim.step()
            held.value = fresh
        }
        for name in ["feed", "profile"] {
            sim.task(name) {
                if held.value < 0 { if isMended { try await renewing.run(renew) } else { renew() } }
                let mine = held.value
                try await server.run { if mine != valid.value { refusals.value += 1 } }
            }
        }
        sim.finally("no request is refused") { refusals.value == 0 }
    }
}
