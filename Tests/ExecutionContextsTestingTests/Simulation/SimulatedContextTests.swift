import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Simulated contexts keep the laws of contexts, and so do views over them.
@Suite(.patient)
struct SimulatedContextTests {
    /// Counts the threads that are inside at a time.
    private final class Room: Sendable {
        let inside = Box(0)
        let most = Box(0)
        let visits = Box(0)

        func visit(_ sim: SimulatedWorld) {
            let count = inside.withValue { inside in
                inside += 1
                return inside
            }
            most.withValue { $0 = max($0, count) }
            sim.step()
            inside.withValue { $0 -= 1 }
            visits.withValue { $0 += 1 }
        }
    }

    private func expectNothing(
        _ name: String, schedules: Int = rounds(debug: 100, release: 300),
        time: SimulationTime = .whenIdle,
        _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
    ) throws {
        try simulate(name, schedules: schedules, time: time, body)
    }

    @Test func `Law 2: a simulated serial context runs one job at a time, in order`() throws {
        try expectNothing("serial") { sim in
            let (context, order) = (sim.serial(named: "db"), Tracked<[Int]>([], name: "a word"))
            let room = Room()
            sim.spawn("a") {
                for index in 0..<4 {
                    context.execute {
                        order.value.append(index)
                        room.visit(sim)
                    }
                }
            }
            sim.spawn("b") { context.execute { room.visit(sim) } }
            sim.finally("in order") {
                order.value == [0, 1, 2, 3] && room.most.value == 1 && room.visits.value == 5
            }
        }
    }

    @Test func `Law 33: the simulation shows that a global context keeps no order`() {
        let report = search("global") { sim in
            let (context, order) = (sim.global, Tracked<[Int]>([], name: "a word"))
            sim.spawn("a") { for index in 0..<3 { context.execute { order.value += [index] } } }
            sim.invariant("in order") { order.value == order.value.sorted() }
        }
        #expect(report.failure?.kind == .invariant)
    }

    @Test func `Law 3: no job runs beside a simulated barrier`() throws {
        try expectNothing("barrier") { sim in
            let (context, isExclusive, readers) = (
                sim.barrier(named: "x"), Tracked(false, name: "a word"), Tracked(0, name: "a word")
            )
            let isWrong = Tracked(false, name: "a word")
            for name in ["a", "b"] {
                sim.spawn(name) {
                    context.execute {
                        if isExclusive.value { isWrong.value = true }
                        sim.step()
                        if isExclusive.value { isWrong.value = true }
                        readers.value += 0
                    }
                    context.executeBarrier {
                        isExclusive.value = true
                        sim.step()
                        isExclusive.value = false
                    }
                    context.syncBarrier { sim.step() }
                    context.sync { sim.step() }
                }
            }
            sim.invariant("alone") { !isWrong.value }
        }
    }

    @Test func `Law 4: isCurrent of simulated contexts is right, also inside nested syncs`() throws
    {
        try expectNothing("where", schedules: 50) { sim in
            let (main, database, isWrong) = (
                sim.main, sim.serial(named: "db"), Tracked(false, name: "a word")
            )
            sim.spawn("a") {
                if main.isCurrent != false { isWrong.value = true }
                main.sync {
                    database.sync {
                        if main.isCurrent != true || database.isCurrent != true {
                            isWrong.value = true
                        }
                        main.sync { database.preconditionIsCurrent() }
                    }
                    if database.isCurrent != false { isWrong.value = true }
                }
            }
            sim.spawn("b") {
                database.execute { if main.isCurrent != false { isWrong.value = true } }
            }
            sim.finally("right") { !isWrong.value }
        }
    }

    @Test func `Law 8: views over simulated contexts keep order and limit under every schedule`()
        throws
    {
        try expectNothing("views") { sim in
            let (serial, limited) = (sim.global.serial(named: "view"), sim.global.limited(to: 2))
            let (one, two) = (Room(), Room())
            for name in ["a", "b", "c"] {
                sim.spawn(name) {
                    serial.execute { one.visit(sim) }
                    limited.execute { two.visit(sim) }
                }
            }
            sim.invariant("one") { one.inside.value <= 1 }
            sim.invariant("two") { two.inside.value <= 2 }
            sim.finally("all ran") { one.visits.value == 3 && two.visits.value == 3 }
        }
    }

    @Test func `Law 28: transactions over simulated contexts exclude each other`() throws {
        try expectNothing("transactions") { sim in
            let view: some SynchronousBarrierContext = sim.serial(named: "accounts")
            let transaction = Transaction(on: view)
            let room = Room()
            for name in ["a", "b"] {
                sim.spawn(name) {
                    transaction.write { room.visit(sim) }
                    view.hold().release()
                    transaction.read { room.visit(sim) }
                }
            }
            sim.finally("one at a time") { room.most.value == 1 && room.visits.value == 4 }
        }
    }

    @Test func `Law 7: virtual time advances when all threads are idle, and delays fire in order`()
        throws
    {
        try simulate("time", schedules: 100, ignoring: [.vacuous]) { sim in
            let (context, order, clock) = (
                sim.serial(named: "db"), Tracked<[Int]>([], name: "a word"), sim.time
            )
            sim.spawn("a") {
                context.schedule(after: .seconds(2)) { order.value += [2] }
                context.schedule(after: .seconds(1)) { order.value += [1] }
                context.schedule(after: .seconds(1.5)) { order.value += [-1] }.cancel()
                order.value += [0]
            }
            sim.finally("in order, and on time") {
                order.value == [0, 1, 2] && clock.now.nanoseconds == 2_000_000_000
            }
        }
    }

    @Test func `Law 33: with racing time, time limits race with work`() {
        func race(_ time: SimulationTime) -> SimulationReport {
            search("race", time: time) { sim in
                let section = CriticalSection()
                let ran = Tracked(true, name: "a word")
                sim.spawn("slow") { section.execute { for _ in 0..<5 { sim.step() } } }
                sim.spawn("impatient") { ran.value = section.executeWithTimeout(0.001) {} }
                sim.finally("got in") { ran.value }
            }
        }
        #expect(race(.whenIdle).failure == nil)
        #expect(race(.racing).failure?.kind == .invariant)
    }

    @Test func `Law 27: the simulation controls a blocking wait for an Async`() throws {
        try expectNothing("async") { sim in
            let (context, sum) = (sim.serial(named: "db"), Tracked(0, name: "a word"))
            for name in ["a", "b"] {
                sim.spawn(name) {
                    let value = try context.submit { 1 }.map { $0 + 1 }.wait()
                    context.sync { sum.value += value }
                }
            }
            sim.finally("both") { sum.value == 4 }
        }
    }
}
