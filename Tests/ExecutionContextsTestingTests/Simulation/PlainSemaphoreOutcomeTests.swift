import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Programs over semaphores and groups that end in several ways, each of which must turn up.
@Suite(.patient, .dispatchIsSimulated)
struct PlainSemaphoreOutcomeTests {
    /// Each program has outcomes that depend on which thread comes first.
    static let outcomes:
        [(name: String, body: @Sendable (SimulatedWorld, Tracked<Int>) -> Void, count: Int)] = [
            (
                "who takes the permit",
                { sim, result in
                    let permit = DispatchSemaphore(value: 1)
                    for number in 1...3 {
                        sim.spawn("\(number)") {
                            if permit.wait(timeout: .now()) == .success { result.value = number }
                        }
                    }
                    // Dispatch refuses to free a semaphore with permits taken.
                    sim.finally("given back") { permit.signal() == 0 }
                }, 3
            ),
            (
                "whose permits are not given back",
                { sim, result in
                    // A thread takes one of each of two, and only the last gives any back.
                    let permit = DispatchSemaphore(value: 0)
                    for number in 1...3 {
                        sim.spawn("\(number)") {
                            permit.wait()
                            result.value = result.value * 4 + number
                            if result.value < 16 { permit.signal() }
                        }
                    }
                    sim.spawn("first") { permit.signal() }
                }, 6
            ),
            (
                "a try before or after the signal",
                { sim, result in
                    let permit = DispatchSemaphore(value: 0)
                    sim.spawn("signaller") { permit.signal() }
                    sim.spawn("tries") {
                        result.value = permit.wait(timeout: .now()) == .success ? 1 : 2
                    }
                }, 2
            ),
            (
                "a group that is empty, or is not",
                { sim, result in
                    let group = DispatchGroup()
                    let x = Tracked(0, name: "x")
                    sim.spawn("enters") {
                        group.enter()
                        x.value = 1
                        group.leave()
                    }
                    sim.spawn("waits") {
                        group.wait()
                        result.value = 1 + x.value
                    }
                }, 2
            ),
            (
                "with a permit to spare",
                { sim, result in
                    let permits = DispatchSemaphore(value: 1)
                    let x = Tracked(0, name: "x")
                    sim.spawn("a") {
                        x.value = 1
                        permits.signal()
                    }
                    sim.spawn("b") {
                        permits.wait()
                        result.value = 1 + x.value
                    }
                }, 2
            ),
            (
                "two signals and one wait",
                { sim, result in
                    let permits = DispatchSemaphore(value: 0)
                    let (x, y) = (Tracked(0, name: "x"), Tracked(0, name: "y"))
                    sim.spawn("a") {
                        x.value = 1
                        permits.signal()
                    }
                    sim.spawn("b") {
                        y.value = 1
                        permits.signal()
                    }
                    sim.spawn("c") {
                        permits.wait()
                        result.value = 1 + x.value + 2 * y.value
                    }
                }, 3
            ),
            (
                "a permit that comes back twice",
                { sim, result in
                    let (permits, gate) = (DispatchSemaphore(value: 1), DispatchSemaphore(value: 0))
                    sim.spawn("a") {
                        permits.wait()
                        permits.signal()
                        gate.signal()
                    }
                    sim.spawn("b") {
                        gate.wait()
                        if permits.wait(timeout: .now()) == .success {
                            result.value += 1
                            permits.signal()
                        }
                    }
                    sim.spawn("c") {
                        permits.wait()
                        result.value += 2
                    }
                    sim.finally("given back") { permits.signal() == 0 }
                }, 2
            ),
        ]

    @Test(arguments: outcomes.indices)
    func `Law 33: each outcome turns up, by every strategy`(_ index: Int) {
        let (name, body, count) = Self.outcomes[index]
        for strategy in [SimulationStrategy.exhaustive, .portfolio, .random] {
            let seen = Locked<Set<Int>>([])
            let report = search(
                name, schedules: rounds(debug: 1_000, release: 3_000), strategy: strategy,
                ignoring: [.lostWakeUp]
            ) { sim in
                let result = Tracked(0, name: "result")
                body(sim, result)
                sim.finally("seen") {
                    seen.withLock { _ = $0.insert(result.value) }
                    return true
                }
            }
            #expect(report.failure == nil, "\(report)")
            #expect(seen.withLock { $0 }.count == count, "\(strategy): \(seen.withLock { $0 })")
        }
    }
}
