import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Generated programs over semaphores and groups show the same under the exhaustive strategy as
/// under all interleavings, deadlocks included.
@Suite(.patient, .dispatchIsSimulated)
struct PlainSemaphoreGeneratedTests {
    private enum Action: CaseIterable, Sendable {
        case wait, signal, tries, waitOther, signalOther, enter, leave, join, tryJoin, read, write
    }

    /// The objects of one schedule, and what its threads have seen.
    private final class World: Sendable {
        let semaphores: [DispatchSemaphore]
        let group = DispatchGroup()
        let value = Tracked(0, name: "x")
        /// By threads. One thread runs at a time.
        nonisolated(unsafe) var seen: [String: [Int]] = [:]

        init(_ permits: Int) {
            // Dispatch refuses to free a semaphore with fewer permits than it began with.
            semaphores = (0..<2).map { _ in DispatchSemaphore(value: 0) }
            for _ in 0..<permits { semaphores[0].signal() }
        }

        func run(_ actions: [Action], _ name: String) {
            var entries = 0
            func note(_ number: Int) { unsafe seen[name, default: []].append(number) }
            for (index, action) in actions.enumerated() {
                switch action {
                case .wait: semaphores[0].wait()
                case .signal: semaphores[0].signal()
                case .tries: note(semaphores[0].wait(timeout: .now()) == .success ? 1 : 0)
                case .waitOther: semaphores[1].wait()
                case .signalOther: semaphores[1].signal()
                case .enter:
                    group.enter()
                    entries += 1
                case .leave where entries > 0:
                    group.leave()
                    entries -= 1
                case .leave: break
                case .join where entries == 0: group.wait()
                case .join: break
                case .tryJoin: note(group.wait(timeout: .now()) == .success ? 1 : 0)
                case .read: note(value.value)
                case .write: value.value = index + 10
                }
            }
            for _ in 0..<entries { group.leave() }
        }
    }

    /// The results at the ends of the schedules that end, and whether one does not.
    private static func results(
        _ program: [[Action]], _ permits: Int, _ strategy: SimulationStrategy, _ most: Int
    ) -> (results: Set<String>, report: SimulationReport) {
        let results = Box<Set<String>>([])
        let report = search(
            "generated", schedules: most, strategy: strategy,
            ignoring: [.lostWakeUp, .deadlock, .vacuous]
        ) { sim in
            let world = World(permits)
            // Also of those that never end, what their threads have seen.
            for (index, actions) in program.enumerated() {
                sim.spawn("\(index)") { world.run(actions, "\(index)") }
            }
            sim.finally("noted") {
                let seen = unsafe world.seen.sorted { $0.key < $1.key }
                results.withValue { _ = $0.insert("\(seen) \(world.value.value)") }
                return true
            }
        }
        return (results.value, report)
    }

    @Test(arguments: sample(Array(0..<8), every: 4))
    func `Law 33: all orders of generated programs show what any interleaving shows`(_ seed: Int) {
        var rng = SeededRNG(seed: UInt64(1_000 + seed))
        var compared = 0
        for _ in 0..<200 where compared < rounds(debug: 1, release: 6) {
            let program = (0..<2 + Int.random(in: 0..<2, using: &rng)).map { _ in
                (0...Int.random(in: 0..<3, using: &rng)).map { _ in
                    Action.allCases.randomElement(using: &rng)!
                }
            }
            let permits = Int.random(in: 0..<3, using: &rng)
            let all = Self.results(program, permits, .exhaustive(switches: 1_000), 1_500)
            guard all.report.isComplete, all.report.failure == nil else { continue }
            let orders = Self.results(program, permits, .exhaustive, 20_000)
            #expect(orders.report.isComplete && orders.report.failure == nil, "\(orders.report)")
            #expect(orders.results == all.results, "\(permits) \(program)")
            if all.results.count > 1 { compared += 1 }
        }
        #expect(compared > 0)
    }
}
