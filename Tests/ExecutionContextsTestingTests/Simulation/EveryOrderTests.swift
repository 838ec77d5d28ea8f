import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The exhaustive strategy runs each order that can make a difference, and counts them.
@Suite(.patient)
struct EveryOrderTests {
    /// A small program, with the number of its orders.
    struct Program: Sendable, CustomStringConvertible {
        let description: String
        let orders: Int
        let body: @Sendable (SimulatedWorld) -> Void

        init(_ name: String, _ orders: Int, _ body: @escaping @Sendable (SimulatedWorld) -> Void) {
            (description, self.orders, self.body) = (name, orders, body)
        }
    }

    private static func values(_ count: Int, _ name: String = "x") -> [Tracked<Int>] {
        (0..<count).map { Tracked(0, name: "\(name)\($0)") }
    }

    private static let many = rounds(debug: 7, release: 10)

    static let programs: [Program] = [
        Program("two threads that share nothing", 1) { sim in
            for (name, value) in zip(["a", "b"], values(2)) {
                sim.spawn(name) { for _ in 0..<2 { value.value += 1 } }
            }
        },
        Program("four writers", 24) { sim in
            let x = Tracked(0, name: "x")
            for number in 1...4 { sim.spawn("\(number)") { x.value = number } }
        },
        Program("a writer and eight readers", 256) { sim in
            let x = Tracked(0, name: "x")
            sim.spawn("writer") { x.value = 1 }
            for number in 1...8 { sim.spawn("\(number)") { _ = x.value } }
        },
        // Both read the old value, in one of two orders of writing; or one comes first.
        Program("two increments", 4) { sim in
            let x = Tracked(0, name: "x")
            for name in ["a", "b"] { sim.spawn(name) { x.value += 1 } }
        },
        Program("four threads with one lock", 24) { sim in
            let (section, x) = (CriticalSection(), Tracked(0, name: "x"))
            for number in 1...4 { sim.spawn("\(number)") { section.execute { x.value += 1 } } }
        },
        Program("two threads, three times each in one lock", 20) { sim in
            let section = CriticalSection()
            for name in ["a", "b"] {
                sim.spawn(name) { for _ in 0..<3 { section.execute {} } }
            }
        },
        Program("four threads with a lock each", 1) { sim in
            for number in 1...4 {
                sim.spawn("\(number)") {
                    let section = CriticalSection()
                    for _ in 0..<3 { section.execute {} }
                }
            }
        },
        Program("three jobs of a serial context, by one thread each", 6) { sim in
            let (context, x) = (sim.serial(named: "context"), Tracked(0, name: "x"))
            for number in 1...3 { sim.spawn("\(number)") { context.execute { x.value += number } } }
        },
        // Thread i writes x[i], from x[i - 1]; one more looks for the last zero.
        Program("last zero of 5", 64) { sim in lastZero(sim, 5) },
        Program("last zero of \(many)", (many + 3) << (many - 2)) { sim in lastZero(sim, many) },
        // Threads take blocks of a disk, and the last ones try blocks that the first ones have.
        Program("file system of 14", 2) { sim in fileSystem(sim, 14) },
        Program("file system of 16", 8) { sim in fileSystem(sim, 16) },
        Program("file system of 18", 32) { sim in fileSystem(sim, 18) },
    ]

    private static func lastZero(_ sim: SimulatedWorld, _ count: Int) {
        let x = values(count + 1)
        sim.spawn("looks") {
            var place = count
            while x[place].value != 0 { place -= 1 }
        }
        for place in 1...count { sim.spawn("\(place)") { x[place].value = x[place - 1].value + 1 } }
    }

    private static func fileSystem(_ sim: SimulatedWorld, _ count: Int) {
        let (nodes, blocks) = (values(32, "node"), values(26, "block"))
        let (nodeLocks, blockLocks) = (
            nodes.map { CriticalSection(name: "of \($0.name)") },
            blocks.map { CriticalSection(name: "of \($0.name)") }
        )
        for thread in 0..<count {
            sim.spawn("\(thread)") {
                nodeLocks[thread].execute {
                    guard nodes[thread].value == 0 else { return }
                    var block = thread * 2 % 26
                    while true {
                        let isMine = blockLocks[block].execute {
                            if blocks[block].value != 0 { return false }
                            blocks[block].value = 1
                            nodes[thread].value = block + 1
                            return true
                        }
                        if isMine { return }
                        block = (block + 1) % 26
                    }
                }
            }
        }
    }

    @Test(arguments: programs)
    func `Law 33: the exhaustive strategy runs each order once, and all of them`(program: Program) {
        let report = search(
            program.description, schedules: 100_000, strategy: .exhaustive, program.body)
        #expect(report.failure == nil)
        #expect(report.isComplete)
        #expect(report.orders == program.orders)
        // As `Docs/Simulation.md` tells: only one of these programs has runs that repeat others.
        let repeating = ["last zero of 10": 10_865, "last zero of 7": 492, "last zero of 5": 72]
        #expect(report.schedules == repeating[program.description] ?? program.orders)
    }

    @Test func `Law 33: a search that ends early is not complete`() {
        let report = search("last zero", schedules: 10, strategy: .exhaustive) { sim in
            Self.lastZero(sim, 5)
        }
        #expect(!report.isComplete && report.failure == nil)
        #expect(report.schedules == 10)
        #expect((1...10).contains(report.orders ?? 0))
    }

    @Test func `Law 33: a program that polls without end is not complete`() {
        let report = search("polls", schedules: 20, strategy: .exhaustive, steps: 6_000) { sim in
            let isReady = Tracked(false, name: "ready")
            sim.spawn("polls") { while !isReady.value {} }
            sim.spawn("sets") { isReady.value = true }
        }
        #expect(!report.isComplete && report.failure == nil)
    }

    @Test func `Law 33: what the exhaustive strategy finds replays with any other`() throws {
        let program: @Sendable (SimulatedWorld) -> Void = { sim in
            let (one, other) = (CriticalSection(name: "one"), CriticalSection(name: "other"))
            sim.spawn("a") { one.execute { other.execute {} } }
            sim.spawn("b") { other.execute { one.execute {} } }
        }
        let failure = try #require(
            search("crossed", strategy: .exhaustive, program).failure)
        #expect(failure.kind == .deadlock)
        let token = try #require(failure.token)
        #expect(search("crossed", replay: token, program).failure?.kind == .deadlock)
    }

    @Test func `Law 33: moments of the clock have no end, so racing time is refused`() {
        let report = search("time", strategy: .exhaustive, time: .racing) { _ in }
        #expect(report.failure?.kind == .misuse)
    }

    @Test func `Law 33: steps of tasks are tried in every order`() async {
        let report = await search(
            "tasks", schedules: 10_000, strategy: .exhaustive, ignoring: [.vacuous]
        ) { _ in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask {} }
            }
        }
        #expect(report.isComplete && report.failure == nil)
        // The first schedule shows that there are tasks.
        #expect(report.orders == report.schedules - 1)
    }

    @Test func `Law 33: orders behind a lock that is taken, tried or waited for in time are tried`()
    {
        func states(
            _ strategy: SimulationStrategy,
            _ body: @escaping @Sendable (SimulatedWorld, Tracked<String>) -> Void
        ) -> Set<String> {
            let states = Locked<Set<String>>([])
            let report = search("states", schedules: 3_000, strategy: strategy) { sim in
                let x = Tracked("", name: "x")
                body(sim, x)
                sim.finally("noted") {
                    let value = x.value
                    states.withLock { _ = $0.insert(value) }
                    return true
                }
            }
            #expect(report.failure == nil)
            if strategy == .exhaustive { #expect(report.isComplete) }
            return states.withLock(\.self)
        }
        // One thread waits for a section while another one is inside a third section.
        @Sendable func chained(_ sim: SimulatedWorld, _ x: Tracked<String>) {
            let (a, b, y) = (CriticalSection(), CriticalSection(), Tracked(0, name: "y"))
            let z = Tracked(0, name: "z")
            sim.spawn("0") { b.execute { x.value = "\(y.value)\(z.value)" } }
            sim.spawn("1") { a.execute { b.execute { z.value = 3 } } }
            sim.spawn("2") { a.execute { y.value = 2 } }
        }
        @Sendable func tried(_ sim: SimulatedWorld, _ x: Tracked<String>) {
            let section = CriticalSection()
            sim.invariant("looks") { x.value.count < 3 }
            sim.spawn("0") { section.execute(timeout: .zero) { x.value += "0" } }
            sim.spawn("1") { section.execute { x.value += "1" } }
        }
        // Two wait in the section's own queue while time passes.
        @Sendable func timed(_ sim: SimulatedWorld, _ x: Tracked<String>) {
            let section = CriticalSection()
            sim.spawn("a") {
                section.execute {
                    x.value += "a"; Thread.sleep(forTimeInterval: 1)
                }
            }
            for name in ["b", "c"] { sim.spawn(name) { section.execute { x.value += name } } }
        }
        #expect(states(.exhaustive, chained) == ["00", "03", "20", "23"])
        #expect(states(.exhaustive, tried) == ["01", "1", "10"])
        #expect(states(.exhaustive, timed).count == 6)
    }

    @Test func `Law 33: a thread that cancels a task meets it in each order`() {
        let seen = Locked<Set<Bool>>([])
        let report = search("cancels", schedules: 1_000, strategy: .exhaustive) { sim in
            let wasCancelled = Tracked(false, name: "cancelled")
            let task = Task { wasCancelled.value = Task.isCancelled }
            sim.spawn("cancels") { task.cancel() }
            sim.finally("noted") {
                let value = wasCancelled.value
                seen.withLock { _ = $0.insert(value) }
                return true
            }
        }
        #expect(report.isComplete && report.failure == nil)
        #expect(seen.withLock(\.self) == [false, true])
    }

    @Test(arguments: 1...8)
    func `Law 33: no search is complete if a later schedule ends early`(longSchedules: Int) throws {
        let count = Tracked(0, name: "schedules")
        let report = search("ends early", strategy: .exhaustive) { sim in
            count.value += 1
            let isLong = count.value <= longSchedules
            let sum = Tracked(0, name: "sum")
            for name in ["alice", "bob"] {
                sim.spawn(name) { for _ in 0..<(isLong ? 3 : 0) { sum.value += 1 } }
            }
        }
        #expect(try #require(report.failure).kind == .nondeterminism)
        #expect(!report.isComplete)
    }
}
