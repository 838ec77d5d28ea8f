import ExecutionContexts
import ExecutionContextsTesting

/// Small programs with one fault each, and the same without it.
enum SeededBug: String, CaseIterable, Sendable {
    case lostUpdate, crossedLocks, checkThenAct, callbackAfterCancel

    /// What a simulation must find in the faulty one.
    var kind: SimulationFailure.Kind { self == .crossedLocks ? .deadlock : .invariant }

    func search(
        isMended: Bool = false, schedules: Int = 400, seed: UInt64 = 0, replay: String? = nil,
        strategy: SimulationStrategy = .portfolio
    ) -> SimulationReport {
        ExecutionContextsTesting.search(
            rawValue, schedules: schedules, strategy: strategy, replay: replay, seed: seed
        ) { sim in
            switch self {
            case .lostUpdate: Self.lostUpdate(sim, isMended)
            case .crossedLocks: Self.crossedLocks(sim, isMended)
            case .checkThenAct: Self.checkThenAct(sim, isMended)
            case .callbackAfterCancel: Self.callbackAfterCancel(sim, isMended)
            }
        }
    }

    /// Two read a value on one context and write the sum back in a second hop.
    private static func lostUpdate(_ sim: SimulatedWorld, _ isMended: Bool) {
        let (database, count) = (sim.serial("database"), Tracked(0, "count"))
        let pool = sim.global
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                if isMended { return database.execute { count.value += 1 } }
                database.execute {
                    let read = count.value
                    pool.execute {
                        let sum = read + 1
                        database.execute { count.value = sum }
                    }
                }
            }
        }
        sim.finally("both have counted") { count.value == 2 }
    }

    /// Two take two locks, in opposite orders.
    private static func crossedLocks(_ sim: SimulatedWorld, _ isMended: Bool) {
        let (left, right) = (CriticalSection(name: "left"), CriticalSection(name: "right"))
        sim.spawn("alice") { left.execute { right.execute {} } }
        sim.spawn("bob") {
            if isMended { left.execute { right.execute {} } } else { right.execute { left.execute {} } }
        }
    }

    /// Two look whether there is room, and then take it.
    private static func checkThenAct(_ sim: SimulatedWorld, _ isMended: Bool) {
        let seats = ReadWriteCoordinator(name: "seats", carrier: sim.serial("writes"))
        let taken = Tracked(0, "taken")
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                if isMended {
                    seats.blockingWrite { if taken.value < 1 { taken.value += 1 } }
                } else if seats.read({ taken.value < 1 }) {
                    seats.blockingWrite { taken.value += 1 }
                }
            }
        }
        sim.invariant("no seat is taken twice") { taken.value <= 1 }
    }

    /// A download tells a screen that may have gone away in between.
    private static func callbackAfterCancel(_ sim: SimulatedWorld, _ isMended: Bool) {
        let main = sim.main
        let (isCancelled, isTold) = (Tracked(false, "cancelled"), Tracked(false, "told"))
        let isWrong = Tracked(false, "told after the cancel")
        sim.spawn("download") {
            if isMended {
                main.execute { if !isCancelled.value { isTold.value = true } }
            } else if !isCancelled.value {
                main.execute {
                    if isCancelled.value { isWrong.value = true }
                    isTold.value = true
                }
            }
        }
        sim.spawn("screen") { main.execute { isCancelled.value = true } }
        sim.invariant("no callback after the cancel") { !isWrong.value }
    }
}
