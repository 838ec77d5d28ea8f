import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Synchronization
import TestSupport
import Testing

/// Generated programs over queues show what real threads show, and the same under the search of all
/// orders as under all interleavings.
@Suite(.patient, .dispatchIsSimulated)
struct PlainQueueGeneratedTests {
    /// What a thread of a program does, with the number of a queue.
    private enum Action: Sendable {
        case async(Int), barrier(Int), sync(Int), syncBarrier(Int), nested(Int, Int), join, write

        static func random(_ queues: Int, using rng: inout SeededRNG) -> Action {
            let queue = Int.random(in: 0..<queues, using: &rng)
            switch Int.random(in: 0..<8, using: &rng) {
            case 0, 1: return .async(queue)
            case 2: return .barrier(queue)
            case 3: return .sync(queue)
            case 4: return .syncBarrier(queue)
            case 5: return .nested(queue, Int.random(in: 0..<queues, using: &rng))
            case 6: return .join
            default: return .write
            }
        }
    }

    /// How the queues of a program are made.
    private enum Kind: CaseIterable, Sendable {
        case serial, concurrent, inFirst, inFirstConcurrent
    }

    /// The objects of one run, and what its jobs have seen.
    private final class World: Sendable {
        let queues: [DispatchQueue]
        let group = DispatchGroup()
        private let value: any Register
        private let lines: any Lines

        init(_ kinds: [Kind], _ value: any Register, _ lines: any Lines) {
            var queues: [DispatchQueue] = []
            for (number, kind) in kinds.enumerated() {
                let isConcurrent = kind == .concurrent || kind == .inFirstConcurrent
                let isInside = kind == .inFirst || kind == .inFirstConcurrent
                queues.append(
                    DispatchQueue(
                        label: "q\(number)", attributes: isConcurrent ? .concurrent : [],
                        target: isInside ? queues.first : nil))
            }
            (self.queues, self.value, self.lines) = (queues, value, lines)
        }

        /// A job: reads and adds, in two steps.
        private func job(_ name: String) {
            let before = value.read()
            value.write(before + 1)
            lines.add("\(name)=\(before)")
        }

        func run(_ actions: [Action], _ name: String) {
            for (index, action) in actions.enumerated() {
                let title = "\(name)\(index)"
                switch action {
                case .async(let queue):
                    queues[queue].async(group: group) { self.job(title) }
                case .barrier(let queue):
                    queues[queue].async(group: group, flags: .barrier) { self.job(title) }
                case .sync(let queue): queues[queue].sync { job(title) }
                case .syncBarrier(let queue): queues[queue].sync(flags: .barrier) { job(title) }
                case .nested(let queue, let inner):
                    queues[queue].async(group: group) {
                        self.queues[inner].async(group: self.group) { self.job(title) }
                    }
                case .join: group.wait()
                case .write: job(title)
                }
            }
        }

        /// What was seen, by the jobs' names, and the value at the end.
        var result: String { lines.all.sorted().joined(separator: " ") + " end \(value.read())" }
    }

    private struct Program: Sendable {
        let kinds: [Kind]
        let threads: [[Action]]

        init(_ seed: Int, threads: Int, actions: Int) {
            var rng = SeededRNG(seed: UInt64(seed))
            let kinds = (0..<2).map { number in
                number == 0
                    ? [Kind.serial, .concurrent].randomElement(using: &rng)!
                    : Kind.allCases.randomElement(using: &rng)!
            }
            self.kinds = kinds
            self.threads = (0..<threads).map { _ in
                (0..<Int.random(in: 1...actions, using: &rng)).map { _ in
                    .random(kinds.count, using: &rng)
                }
            }
        }
    }

    /// The results at the ends of all schedules.
    private static func results(
        _ program: Program, _ strategy: SimulationStrategy, _ most: Int
    ) -> (results: Set<String>, report: SimulationReport) {
        let results = Box<Set<String>>([])
        let report = search("generated queues", schedules: most, strategy: strategy) { sim in
            let world = World(program.kinds, Tracked(0, name: "x"), SimulatedLines())
            for (index, actions) in program.threads.enumerated() {
                sim.spawn("\(index)") { world.run(actions, "\(index).") }
            }
            sim.finally("noted") {
                results.withValue { _ = $0.insert(world.result) }
                return true
            }
        }
        return (results.value, report)
    }

    @Test(arguments: sample(Array(0..<6), every: 3))
    func `Law 33: all orders of generated programs show what any interleaving shows`(_ seed: Int) {
        var compared = 0
        for number in 0..<60 where compared < rounds(debug: 1, release: 4) {
            let program = Program(10_000 * seed + number, threads: 2, actions: 2)
            let all = Self.results(program, .exhaustive(switches: 1_000), 1_500)
            #expect(all.report.failure == nil, "\(all.report)")
            guard all.report.isComplete else { continue }
            let orders = Self.results(program, .exhaustive, 20_000)
            #expect(orders.report.isComplete && orders.report.failure == nil, "\(orders.report)")
            #expect(orders.results == all.results, "\(program)")
            if all.results.count > 1 { compared += 1 }
        }
        #expect(compared > 0)
    }

    @Test(arguments: sample(Array(0..<6), every: 3))
    func `Law 33: what real threads and queues show, a simulation shows as well`(_ seed: Int) async
    {
        var (compared, shown) = (0, 0)
        for number in 0..<20 where compared < 3 {
            let program = Program(50_000 + 1_000 * seed + number, threads: 2, actions: 2)
            let orders = Self.results(program, .exhaustive, 5_000)
            #expect(orders.report.failure == nil, "\(orders.report)")
            guard orders.report.isComplete else { continue }
            compared += 1
            for _ in 0..<200 {
                let world = World(program.kinds, RealRegister(), RealLines())
                await offThePool {
                    onThreads(program.threads.count) { index in
                        world.run(program.threads[index], "\(index).")
                    }
                    world.group.wait()
                }
                #expect(orders.results.contains(world.result), "\(program) \(world.result)")
                shown += 1
            }
        }
        #expect(compared > 0 && shown > 0)
    }
}

/// A value that jobs read and write.
private protocol Register: Sendable {
    func read() -> Int
    func write(_ value: Int)
}

extension Tracked: Register where Value == Int {
    fileprivate func read() -> Int { value }
    fileprivate func write(_ new: Int) { value = new }
}

/// The same outside of a simulation.
private final class RealRegister: Register {
    // Relaxed: a program must not depend on more.
    private let value = Atomic(0)
    func read() -> Int { value.load(ordering: .relaxed) }
    func write(_ new: Int) { value.store(new, ordering: .relaxed) }
}

/// What the jobs of a program note.
private protocol Lines: Sendable {
    func add(_ line: String)
    var all: [String] { get }
}

private final class SimulatedLines: Lines {
    // Unsafe in name only: one thread of a simulation runs at a time. A lock would be an object of
    // the program.
    nonisolated(unsafe) private var lines: [String] = []
    func add(_ line: String) { unsafe lines.append(line) }
    var all: [String] { unsafe lines }
}

private final class RealLines: Lines {
    private let lines = Box<[String]>([])
    func add(_ line: String) { lines.withValue { $0.append(line) } }
    var all: [String] { lines.value }
}
