import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Synchronization
import TestSupport
import Testing

/// What orders a semaphore and a group leave, and what they order.
@Suite(.patient, .dispatchIsSimulated)
struct PlainSemaphoreOrderTests {
    /// A program over semaphores or groups, with its number of orders, and the same over what the
    /// library has.
    struct Program: Sendable, CustomStringConvertible {
        let description: String
        let orders: Int
        let body: @Sendable (SimulatedWorld) -> Void
        let twin: (@Sendable (SimulatedWorld) -> Void)?

        init(
            _ description: String, _ orders: Int,
            _ body: @escaping @Sendable (SimulatedWorld) -> Void,
            twin: (@Sendable (SimulatedWorld) -> Void)? = nil
        ) {
            (self.description, self.orders, self.body) = (description, orders, body)
            self.twin = twin
        }
    }

    static let programs = [
        Program("four threads with one lock", 24) { sim in
            let (lock, x) = (DispatchSemaphore(value: 1), Tracked(0, name: "x"))
            for number in 1...4 {
                sim.spawn("\(number)") {
                    lock.wait()
                    x.value += 1
                    lock.signal()
                }
            }
        } twin: { sim in
            let (lock, x) = (Lock(), Tracked(0, name: "x"))
            for number in 1...4 {
                sim.spawn("\(number)") { lock.mutex.withLock { _ in x.value += 1 } }
            }
        },
        Program("two threads, three times each in one lock", 20) { sim in
            let lock = DispatchSemaphore(value: 1)
            for name in ["a", "b"] {
                sim.spawn(name) {
                    for _ in 0..<3 {
                        lock.wait()
                        lock.signal()
                    }
                }
            }
        } twin: { sim in
            let section = CriticalSection()
            for name in ["a", "b"] {
                sim.spawn(name) { for _ in 0..<3 { section.execute {} } }
            }
        },
        Program("a lock and a value without it", 4) { sim in
            let (lock, x) = (DispatchSemaphore(value: 1), Tracked(0, name: "x"))
            for name in ["a", "b"] {
                sim.spawn(name) {
                    lock.wait()
                    lock.signal()
                    x.value = 1
                }
            }
        } twin: { sim in
            let (section, x) = (CriticalSection(), Tracked(0, name: "x"))
            for name in ["a", "b"] {
                sim.spawn(name) {
                    section.execute {}
                    x.value = 1
                }
            }
        },
        Program("one hands over to another", 1) { sim in
            let (semaphore, x) = (DispatchSemaphore(value: 0), Tracked(0, name: "x"))
            sim.spawn("a") {
                x.value = 1
                semaphore.signal()
            }
            sim.spawn("b") {
                semaphore.wait()
                x.value += 1
            }
        },
        Program("fan-out of three", 1) { sim in
            let (group, x) = (DispatchGroup(), (0..<3).map { Tracked(0, name: "x\($0)") })
            for (number, value) in x.enumerated() {
                group.enter()
                sim.spawn("\(number)") {
                    value.value = 1
                    group.leave()
                }
            }
            sim.spawn("joiner") {
                group.wait()
                for value in x { value.value += 1 }
            }
        },
    ]

    private final class Lock: Sendable {
        let mutex = SimulatedMutex(())
    }

    @Test(arguments: programs)
    func `Law 33: each order is tried, and counted once`(program: Program) {
        func run(_ body: @escaping @Sendable (SimulatedWorld) -> Void) -> SimulationReport {
            search(program.description, schedules: 20_000, strategy: .exhaustive, body)
        }
        let report = run(program.body)
        #expect(report.isComplete && report.failure == nil, "\(report)")
        #expect(report.orders == program.orders, "\(report)")
        if let twin = program.twin {
            let other = run(twin)
            #expect(other.orders == report.orders, "\(other)")
        }
    }

    @Test func `Law 33: a report names the pairs of a semaphore`() {
        let report = search("pairs", strategy: .exhaustive) { sim in
            let lock = DispatchSemaphore(value: 1)
            for name in ["alice", "bob"] {
                sim.spawn(name) {
                    lock.wait()
                    lock.signal()
                }
            }
        }
        let pair = report.pairs?.first { $0.object == "a semaphore" }
        #expect(pair?.first == "'alice' takes" && pair?.second == "'bob' takes", "\(report)")
        #expect(pair?.inOrder == 1 && pair?.reversed == 1, "\(report)")
    }

    private final class Letter: @unchecked Sendable {
        // Unchecked: the program's order is what is tested.
        @Shared("letter") var text = ""
        let count = SimulatedAtomic(0)
    }

    @Test(arguments: [SimulationStrategy.portfolio, .random, .exhaustive])
    func `Law 33: a wait comes after the signal that it has had, also in weak memory`(
        strategy: SimulationStrategy
    ) {
        let report = search("ordered", schedules: 1_000, strategy: strategy) { sim in
            let (letter, isThere) = (Letter(), DispatchSemaphore(value: 0))
            let (group, read) = (DispatchGroup(), DispatchSemaphore(value: 0))
            group.enter()
            sim.spawn("writer") {
                letter.count.wrappingAdd(1, ordering: .relaxed)
                letter.text = "hello"
                isThere.signal()
                read.wait()
                letter.text = "again"
                group.leave()
            }
            sim.spawn("reader") {
                letter.count.wrappingAdd(1, ordering: .relaxed)
                isThere.wait()
                _ = letter.text
                read.signal()
            }
            sim.spawn("joiner") {
                group.wait()
                letter.text = "end"
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a signal does not order what its thread does later`() {
        let report = search("unordered") { sim in
            let (letter, isThere) = (Letter(), DispatchSemaphore(value: 0))
            sim.spawn("writer") {
                letter.count.wrappingAdd(1, ordering: .relaxed)
                isThere.signal()
                letter.text = "hello"
            }
            sim.spawn("reader") {
                isThere.wait()
                _ = letter.text
            }
        }
        #expect(report.failure?.kind == .dataRace, "\(report)")
    }
}
