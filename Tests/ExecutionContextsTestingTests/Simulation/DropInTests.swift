import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

private typealias DispatchQueue = SimulatedQueue
private typealias DispatchSemaphore = SimulatedSemaphore

/// Code over Dispatch, whose queues and semaphores one line replaces.
@Suite(.patient)
struct DropInTests {
    @Test(arguments: [SimulationStrategy.portfolio, .exhaustive])
    func `Law 33: a semaphore that nobody signals is a lost wake-up`(strategy: SimulationStrategy) {
        let report = search("handshake", strategy: strategy) { sim in
            let (asked, answered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            sim.spawn("client") {
                asked.signal()
                answered.wait()
            }
            sim.spawn("server") { asked.wait() }
        }
        #expect(report.failure?.kind == .lostWakeUp, "\(report)")
    }

    /// At most so many threads are inside at a time.
    private final class Gate: Sendable {
        let permits: DispatchSemaphore
        let inside = Tracked(0, name: "inside")
        let most = Tracked(0, name: "most")
        init(_ permits: Int) { self.permits = DispatchSemaphore(value: permits) }

        func pass() {
            permits.wait()
            let count = inside.value + 1
            inside.value = count
            most.value = max(most.value, count)
            inside.value -= 1
            permits.signal()
        }
    }

    @Test(arguments: [1, 2])
    func `Law 33: a semaphore lets so many threads in`(permits: Int) {
        let report = search("gate", schedules: rounds(debug: 600, release: 3_000)) { sim in
            let gate = Gate(permits)
            for name in ["alice", "bob", "carol"] { sim.spawn(name) { gate.pass() } }
            sim.finally("no more inside") { gate.most.value <= 1 }
        }
        #expect((report.failure == nil) == (permits == 1), "\(report)")
    }

    @Test func `Law 33: a wait with a time limit ends in simulated time`() {
        let report = search("limits", schedules: 50) { sim in
            let semaphore = DispatchSemaphore(value: 0)
            let results = Tracked<[Bool]>([], name: "results")
            sim.spawn("waits") {
                let early = semaphore.wait(timeout: .now() + 60)
                let late = semaphore.wait(timeout: .now() + 3_600)
                results.value = [early == .timedOut, late == .success]
            }
            sim.spawn("signals") {
                sim.main.schedule(after: .seconds(120)) { semaphore.signal() }
            }
            sim.finally("one in time") { results.value == [true, true] }
        }
        #expect(report.failure == nil, "\(report)")
    }

    // Unchecked: the queue guards the count, except where a test leaves the barrier out.
    private final class Counter: @unchecked Sendable {
        private let queue: DispatchQueue
        private let isBarrier: Bool
        @Shared("count") private var count = 0

        init(_ attributes: SimulatedQueue.Attributes, isBarrier: Bool) {
            queue = DispatchQueue(label: "counter", attributes: attributes)
            self.isBarrier = isBarrier
        }

        func add() { queue.async(flags: isBarrier ? .barrier : []) { self.count += 1 } }
        var value: Int { queue.sync { count } }
    }

    @Test func `Law 33: a write on a concurrent queue needs a barrier`() {
        func run(
            _ attributes: SimulatedQueue.Attributes, isBarrier: Bool
        ) -> SimulationFailure.Kind? {
            search("counter") { sim in
                let counter = Counter(attributes, isBarrier: isBarrier)
                for name in ["alice", "bob"] {
                    sim.spawn(name) {
                        counter.add()
                        _ = counter.value
                    }
                }
                sim.finally("counted") { counter.value == 2 }
            }.failure?.kind
        }
        #expect(run([], isBarrier: false) == nil)
        #expect(run(.concurrent, isBarrier: true) == nil)
        #expect(run(.concurrent, isBarrier: false) == .dataRace)
    }

    @Test func `Law 33: a sync in a job of the same queue is a deadlock`() {
        let report = search("nested") { sim in
            let queue = DispatchQueue(label: "state")
            sim.spawn("alice") { queue.sync { queue.sync {} } }
        }
        #expect(report.failure?.kind == .deadlock, "\(report)")
    }

    @Test func `Law 33: a job after a deadline comes in simulated time, and in order`() {
        let report = search("after", schedules: 200, ignoring: [.vacuous]) { sim in
            let queue = DispatchQueue(label: "state")
            let seen = Tracked<[Int]>([], name: "seen")
            sim.spawn("alice") {
                queue.asyncAfter(deadline: .now() + 2) { seen.value += [2] }
                queue.asyncAfter(deadline: .now() + 1, flags: .barrier) { seen.value += [1] }
                DispatchQueue.global().async { queue.async { seen.value += [0] } }
            }
            sim.finally("in order") { seen.value == [0, 1, 2] }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Made outside of a simulation they are those of Dispatch`() {
        let queue = DispatchQueue(label: "outside", attributes: .concurrent)
        let semaphore = DispatchSemaphore(value: 0)
        queue.async { semaphore.signal() }
        semaphore.wait()
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now()) { semaphore.signal() }
        #expect(semaphore.wait(timeout: .distantFuture) == .success)
        #expect(queue.sync(flags: .barrier) { 42 } == 42)
        #expect(semaphore.wait(timeout: .now()) == .timedOut)
        #expect(queue.label == "outside")
    }
}
