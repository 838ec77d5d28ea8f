import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The shipped critical section under hundreds of schedules; a token replays each of them.
@Suite(.patient)
struct CriticalSectionScheduleTests {
    /// Simulates the bodies that `make` returns, with time that races with them.
    private func explore(
        _ name: String,
        _ make: @escaping @Sendable (SimulatedWorld, Ledger) -> [@Sendable () -> Void]
    ) async {
        let failure = Box<SimulationFailure?>(nil)
        await offThePool {
            failure.value =
                search(
                    name, schedules: 400, time: .racing, patience: Patience.step,
                    ignoring: [.lockOrder]
                ) { sim in
                    let ledger = Ledger()
                    for (index, body) in make(sim, ledger).enumerated() {
                        sim.spawn("thread \(index)", body)
                    }
                    sim.finally("nothing is wrong") { try ledger.check() }
                }.failure
        }
        #expect(failure.value == nil)
    }

    @Test func `Laws 14, 33: under every schedule one thread at a time is inside, and all get in`()
        async
    {
        await explore("one inside") { sim, ledger in
            let section = CriticalSection()
            return (0..<3).map { _ in
                {
                    for _ in 0..<3 { section.execute { ledger.inside(sim) } }
                    ledger.expect(section.isCurrent == false, "is still inside")
                }
            }
        }
    }

    @Test func `Laws 14, 33: under every schedule a nested exit does not leave the section`() async
    {
        await explore("nested") { sim, ledger in
            let section = CriticalSection()
            return (0..<3).map { _ in
                {
                    for _ in 0..<2 {
                        section.execute {
                            sim.step()
                            section.execute { ledger.inside(sim) }
                            sim.step()
                            ledger.expect(
                                section.isCurrent == true, "the inner exit left the outer one")
                            ledger.inside(sim)
                        }
                    }
                }
            }
        }
    }

    @Test
    func `Laws 15, 33: under every schedule a timed entry says if it ran, and is never early`()
        async
    {
        await explore("limits") { sim, ledger in
            let section = CriticalSection()
            return (0..<3).map { index in
                {
                    for round in 0..<3 {
                        // One thread has no limit. It must be woken, whichever waiter gives up.
                        let limit = Duration.microseconds(
                            index == 0 ? Int.max : 20 * index * (round + 1))
                        let start = sim.time.now
                        let before = ledger.visits(of: index)
                        let entry: Void? = section.execute(timeout: limit) {
                            ledger.inside(sim, index)
                        }
                        let ran = entry != nil
                        ledger.expect(
                            ledger.visits(of: index) - before == (ran ? 1 : 0), "a wrong result")
                        let waited = start.duration(to: sim.time.now)
                        ledger.expect(ran || waited >= limit, "gave up after \(waited) of \(limit)")
                    }
                }
            }
        }
    }

    @Test func `Laws 15, 33: under every schedule a waiter that gives up passes its wake-up on`()
        async
    {
        await explore("passing on") { sim, ledger in
            let section = CriticalSection()
            let timed: @Sendable () -> Void = {
                for _ in 0..<2 { _ = section.executeWithTimeout(3e-6) { ledger.inside(sim) } }
            }
            let untimed: @Sendable () -> Void = {
                for _ in 0..<2 { section.execute { ledger.inside(sim) } }
            }
            return [untimed, timed, untimed, timed]
        }
    }

    @Test func `Laws 15, 33: under every schedule opposite orders end if there are time limits`()
        async
    {
        await explore("crossing with limits") { sim, ledger in
            let (left, right) = (CriticalSection(), CriticalSection())
            return [(left, right), (right, left)].map { first, second in
                {
                    first.execute {
                        sim.step()
                        _ = second.executeWithTimeout(0.001) { ledger.inside(sim) }
                    }
                }
            }
        }
    }
}

/// Collects what simulated threads find, since an issue recorded there does not reach the test.
private final class Ledger: Sendable {
    private struct Wrong: Error { let what: String }
    private struct State {
        var fault: String?
        var occupants = 0
        var visits: [Int: Int] = [:]
    }

    // A lock guards it, so the section has to order nothing but the visits.
    private let state = Box(State())

    func expect(_ condition: Bool, _ wrong: @autoclosure () -> String) {
        if !condition { state.withValue { $0.fault = $0.fault ?? wrong() } }
    }

    func check() throws -> Bool {
        if let fault = state.value.fault { throw Wrong(what: fault) }
        return true
    }

    func visits(of index: Int) -> Int { state.value.visits[index, default: 0] }

    /// A visit to the section, during which other simulated threads may run.
    func inside(_ sim: SimulatedWorld, _ index: Int = 0) {
        state.withValue { $0.occupants += 1 }
        expect(state.value.occupants == 1, "two are inside")
        sim.step()
        sim.step()
        state.withValue { $0.visits[index, default: 0] += 1 }
        expect(state.value.occupants == 1, "two are inside")
        state.withValue { $0.occupants -= 1 }
    }
}
