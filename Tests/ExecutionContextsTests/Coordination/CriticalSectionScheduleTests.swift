import ExecutionContexts
import Testing

/// The shipped critical section under hundreds of schedules, each replayed exactly by its seed.
@Suite(.timeLimit(.minutes(5)))
struct CriticalSectionScheduleTests {
    private static let seeds: UInt64 = 400

    /// Checks each schedule of the bodies that `make` gives, and stops at the first that is wrong.
    private func explore(
        _ make: @escaping @Sendable (MiniSimulator, Ledger) -> [@Sendable () -> Void]
    ) async {
        let fault = Box<String?>(nil)
        await offThePool {
            for seed in 0..<Self.seeds where fault.value == nil {
                let simulator = MiniSimulator(seed: seed)
                let ledger = Ledger()
                let outcome = simulator.run(make(simulator, ledger))
                if outcome != .finished { fault.value = "seed \(seed): \(outcome)" }
                if let wrong = ledger.fault { fault.value = "seed \(seed): \(wrong)" }
            }
        }
        #expect(fault.value == nil)
    }

    @Test func `Laws 14, 33: under every schedule one thread is inside, and all get in`() async {
        await explore { simulator, ledger in
            let section = CriticalSection()
            return (0..<3).map { _ in
                {
                    for _ in 0..<3 { section.execute { ledger.inside(simulator) } }
                    ledger.expect(section.isCurrent == false, "is still inside")
                }
            }
        }
    }

    @Test func `Laws 14, 33: under every schedule a thread inside enters again, and leaves once`() async {
        await explore { simulator, ledger in
            let section = CriticalSection()
            return (0..<3).map { _ in
                {
                    for _ in 0..<2 {
                        section.execute {
                            simulator.step()
                            section.execute { ledger.inside(simulator) }
                            simulator.step()
                            ledger.expect(section.isCurrent == true, "the inner one left the outer one")
                            ledger.inside(simulator)
                        }
                    }
                }
            }
        }
    }

    @Test func `Laws 15, 33: under every schedule a limit runs the body or says not, and is never early`()
        async
    {
        await explore { simulator, ledger in
            let section = CriticalSection()
            return (0..<3).map { index in
                {
                    for round in 0..<3 {
                        // One of them has no limit: nobody's giving up may cost it its wake-up.
                        let limit = Duration.microseconds(index == 0 ? Int.max : 20 * index * (round + 1))
                        let start = simulator.now
                        let before = ledger.visits(of: index)
                        let ran = section.executeWithTimeout(limit) { ledger.inside(simulator, index) }
                        ledger.expect(ledger.visits(of: index) - before == (ran ? 1 : 0), "ran and said not")
                        let waited = Duration.nanoseconds(simulator.now - start)
                        ledger.expect(ran || waited >= limit, "gave up after \(waited) of \(limit)")
                    }
                }
            }
        }
    }

    @Test func `Laws 15, 33: under every schedule one that gives up passes a wake-up on`() async {
        await explore { simulator, ledger in
            let section = CriticalSection()
            let impatient: @Sendable () -> Void = {
                for _ in 0..<2 { _ = section.executeWithTimeout(3e-6) { ledger.inside(simulator) } }
            }
            let patient: @Sendable () -> Void = {
                for _ in 0..<2 { section.execute { ledger.inside(simulator) } }
            }
            return [patient, impatient, patient, impatient]
        }
    }

    @Test func `Law 33: two sections entered in opposite orders deadlock, and the seed repeats it`() async {
        let found = Box<UInt64?>(nil)
        let replayed = Box(false)
        await offThePool {
            found.value = (0..<100).first { Self.crossing($0).outcome == .deadlocked([0, 1]) }
            guard let seed = found.value else { return }
            let (first, second) = (Self.crossing(seed), Self.crossing(seed))
            replayed.value = first.trace == second.trace && second.outcome == .deadlocked([0, 1])
        }
        #expect(found.value != nil)
        #expect(replayed.value)
    }

    @Test func `Laws 15, 33: with limits the same two end under every schedule`() async {
        await explore { simulator, ledger in
            let (left, right) = (CriticalSection(), CriticalSection())
            return [(left, right), (right, left)].map { first, second in
                {
                    first.execute {
                        simulator.step()
                        _ = second.executeWithTimeout(0.001) { ledger.inside(simulator) }
                    }
                }
            }
        }
    }

    private static func crossing(_ seed: UInt64) -> (outcome: MiniSimulator.Outcome, trace: [Int]) {
        let simulator = MiniSimulator(seed: seed)
        let (left, right) = (CriticalSection(), CriticalSection())
        let outcome = simulator.run([
            { left.execute { right.execute {} } }, { right.execute { left.execute {} } },
        ])
        return (outcome, simulator.trace)
    }
}

/// What simulated threads find: nothing they could report themselves would reach the test.
private final class Ledger: @unchecked Sendable {
    // Unchecked: simulated threads run one at a time, and the test reads after all have ended.
    private(set) var fault: String?
    private var occupants = 0
    private var visits: [Int: Int] = [:]

    func expect(_ condition: Bool, _ wrong: @autoclosure () -> String) {
        if !condition && fault == nil { fault = wrong() }
    }

    func visits(of index: Int) -> Int { visits[index, default: 0] }

    /// A visit to the section, during which the others have their turns.
    func inside(_ simulator: MiniSimulator, _ index: Int = 0) {
        occupants += 1
        expect(occupants == 1, "two are inside")
        simulator.step()
        simulator.step()
        visits[index, default: 0] += 1
        expect(occupants == 1, "two are inside")
        occupants -= 1
    }
}
