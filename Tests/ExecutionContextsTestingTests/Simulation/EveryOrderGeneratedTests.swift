import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Generated programs show the same under the exhaustive strategy, and by all reversals, as under
/// all interleavings.
@Suite(.patient)
struct EveryOrderGeneratedTests {
    /// What a thread of a generated program does.
    private indirect enum Action: Sendable {
        case read(Int), write(Int, Int), add(Int)
        case lock(Int, [Action])
        case submit(Int, [Action])
        case wait(Int, [Action])
        case barrier([Action])
        case begin([Action])
        case delay(Int, [Action])
        case coordinate(isWrite: Bool, [Action])
        case task([Action])
        case complete(Int), look
        case tryLock(Int, [Action]), nest(Int, [Action])
        case rest
    }

    private struct Generator {
        var rng: SeededRNG

        mutating func number(_ end: Int) -> Int { Int.random(in: 0..<end, using: &rng) }

        mutating func actions(_ most: Int, _ kinds: [Int]) -> [Action] {
            (0...number(most)).map { _ in action(kinds) }
        }

        mutating func action(_ kinds: [Int]) -> Action {
            let inner = { (generator: inout Self) in generator.actions(1, [0, 1, 2]) }
            switch kinds[number(kinds.count)] {
            case 0: return .read(number(2))
            case 1: return .write(number(2), 1 + number(9))
            case 2: return .add(number(2))
            case 3: return .lock(number(2), inner(&self))
            case 4: return .submit(number(2), inner(&self))
            case 5: return .wait(number(2), inner(&self))
            case 6: return .barrier(inner(&self))
            case 7: return .begin(inner(&self))
            case 8: return .delay(1 + number(2), inner(&self))
            case 9: return .coordinate(isWrite: number(2) == 0, inner(&self))
            case 10: return .task(inner(&self))
            case 11: return .complete(number(9))
            case 12: return .look
            case 13: return .tryLock(number(2), inner(&self))
            // Always in one order, so that no two threads wait for each other.
            case 14: return .nest(0, [.lock(1, inner(&self))])
            default: return .rest
            }
        }
    }

    /// The objects of one schedule of a program, and what its threads have seen.
    private final class World: Sendable {
        let values = [Tracked(0, name: "x"), Tracked(0, name: "y")]
        let sections = [CriticalSection(name: "a"), CriticalSection(name: "b")]
        let contexts: [SimulatedSerialContext]
        let crowd: SimulatedBarrierContext
        let coordinator = ReadWriteCoordinator()
        let promise = Promise<Int>()
        let sim: SimulatedWorld
        /// By places in the program, which are the same in each schedule. One thread runs at a
        /// time.
        nonisolated(unsafe) var seen: [String: [Int]] = [:]

        init(_ sim: SimulatedWorld) {
            self.sim = sim
            contexts = [sim.serial(named: "one"), sim.serial(named: "two")]
            crowd = sim.barrier(named: "crowd")
        }

        func note(_ value: Int, at place: String) {
            unsafe seen[place, default: []].append(value)
        }

        func run(_ actions: [Action], _ place: String) {
            for (index, action) in actions.enumerated() { run(action, "\(place).\(index)") }
        }

        private func run(_ action: Action, _ place: String) {
            switch action {
            case .read(let x): note(values[x].value, at: place)
            case .write(let x, let value): values[x].value = value
            case .add(let x): values[x].value += 1
            case .lock(let one, let actions): sections[one].execute { run(actions, place) }
            case .submit(let one, let actions):
                contexts[one].execute { self.run(actions, place) }
            case .wait(let one, let actions): contexts[one].sync { run(actions, place) }
            case .barrier(let actions): crowd.executeBarrier { self.run(actions, place) }
            case .begin(let actions): crowd.execute { self.run(actions, place) }
            case .delay(let time, let actions):
                contexts[0].schedule(after: .seconds(time)) { self.run(actions, place) }
            case .coordinate(let isWrite, let actions):
                if isWrite {
                    coordinator.blockingWrite { run(actions, place) }
                } else {
                    coordinator.read { run(actions, place) }
                }
            case .task(let actions): sim.task(place) { self.run(actions, place) }
            case .complete(let value): note(promise.succeed(value) ? 1 : 0, at: place)
            case .tryLock(let one, let actions):
                let isIn: Void? = sections[one].execute(timeout: .zero) { run(actions, place) }
                note(isIn == nil ? 0 : 1, at: place)
            case .nest(let one, let actions): sections[one].execute { run(actions, place) }
            case .rest: Thread.sleep(forTimeInterval: 1)
            case .look: note(promise.async.isCompleted ? 1 : 0, at: place)
            }
        }

        var result: String {
            let all = unsafe seen.map { "\($0.key)=\($0.value)" }.sorted()
            return "\(values.map(\.value)) \(all)"
        }
    }

    /// All results of a program, and whether all schedules were tried.
    ///
    /// With `isChecked`, an invariant notes what it sees after each step.
    private func results(
        _ program: [[Action]], _ strategy: SimulationStrategy, _ most: Int, isChecked: Bool
    ) -> (results: Set<String>, report: SimulationReport) {
        let results = Locked<Set<String>>([])
        let report = search(
            "generated", schedules: most, strategy: strategy,
            body(of: program, isChecked: isChecked, notingIn: results))
        return (results.withLock(\.self), report)
    }

    private func body(
        of program: [[Action]], isChecked: Bool, notingIn results: Locked<Set<String>>
    ) -> @Sendable (SimulatedWorld) -> Void {
        { sim in
            let world = World(sim)
            for (index, actions) in program.enumerated() {
                sim.spawn("\(index)") { world.run(actions, "\(index)") }
            }
            if isChecked {
                sim.invariant("noted") {
                    let now = "\(world.values.map(\.value))"
                    results.withLock { _ = $0.insert(now) }
                    return true
                }
            }
            sim.finally("noted") {
                let result = world.result
                results.withLock { _ = $0.insert(result) }
                return true
            }
        }
    }

    @Test(
        arguments: [
            [0, 1, 2], [0, 1, 2, 3], [1, 2, 4], [0, 1, 4, 5], [2, 6, 7], [1, 2, 8], [2, 9],
            [0, 2, 10],
            [2, 3, 4, 5, 8], [1, 11, 12], [0, 1, 3, 14], [2, 3, 13],
            [1, 3, 14, 15],
        ], [false, true])
    func `Law 33: the exhaustive strategy and all reversals show what any interleaving shows`(
        kinds: [Int], isChecked: Bool
    ) {
        var generator = Generator(rng: SeededRNG(seed: UInt64(kinds.reduce(7) { $0 * 13 + $1 })))
        let most = rounds(debug: 150, release: 300)
        var compared = 0
        for _ in 0..<40 where compared < rounds(debug: 1, release: 2) {
            let program = (0..<2 + generator.number(2)).map { _ in generator.actions(2, kinds) }
            let all = results(program, .exhaustive(switches: 1_000), most, isChecked: isChecked)
            guard all.report.isComplete, all.report.failure == nil else { continue }
            let orders = results(program, .exhaustive, 20_000, isChecked: isChecked)
            #expect(orders.report.isComplete)
            #expect(orders.results == all.results, "\(program)")
            let reversed = Locked<Set<String>>([])
            let isDone = runReversals(
                20_000, seed: UInt64(compared),
                body(of: program, isChecked: isChecked, notingIn: reversed))
            #expect(isDone)
            #expect(reversed.withLock(\.self) == all.results, "\(program)")
            compared += 1
        }
        #expect(compared > 0)
    }
}
