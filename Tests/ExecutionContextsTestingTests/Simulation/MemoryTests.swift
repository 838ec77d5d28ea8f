import ExecutionContextsTesting
import Synchronization
import TestSupport
import Testing

/// The outcomes of small programs over atomics, as the C11 memory model tells them.
@Suite(.patient)
struct MemoryTests {
    /// What the threads of a program have read.
    private final class Answers: Sendable {
        private let answers: [Tracked<Int>]
        init(_ count: Int) { answers = (0..<count).map { Tracked(0, name: "answer \($0)") } }
        func set(_ index: Int, _ value: Int) { answers[index].value = value }
        var all: [Int] { answers.map(\.value) }
    }

    /// Two atomics, and the answers of a program over them.
    private final class Program: Sendable {
        let x = SimulatedAtomic(0)
        let y = SimulatedAtomic(0)
        let answers: Answers
        init(_ count: Int) { answers = Answers(count) }
    }

    /// Which answers a program can give; nil if that is not known.
    private func outcomes(
        answers count: Int, strategy: SimulationStrategy = .exhaustive,
        _ threads: [@Sendable (Program) -> Void]
    ) -> Set<[Int]>? {
        let found = Locked<Set<[Int]>>([])
        let most = strategy == .exhaustive ? 50_000 : 500
        let report = search("litmus", schedules: most, strategy: strategy) { sim in
            let program = Program(count)
            for (index, thread) in threads.enumerated() {
                sim.spawn("thread \(index)") { thread(program) }
            }
            sim.finally("told") {
                found.withLock { _ = $0.insert(program.answers.all) }
                return true
            }
        }
        #expect(report.failure == nil, "\(report)")
        return report.isComplete || strategy != .exhaustive ? found.withLock { $0 } : nil
    }

    private static let both: Set<[Int]> = [[0, 0], [0, 1], [1, 0], [1, 1]]

    @Test func `Law 33: each thread may fail to see what the other one has stored`() {
        func run(_ store: AtomicStoreOrdering, _ load: AtomicLoadOrdering, fenced: Bool = false)
            -> Set<[Int]>?
        {
            outcomes(
                answers: 2,
                [
                    { program in
                        program.x.store(1, ordering: store)
                        if fenced { simulatedMemoryFence(ordering: .sequentiallyConsistent) }
                        program.answers.set(0, program.y.load(ordering: load))
                    },
                    { program in
                        program.y.store(1, ordering: store)
                        if fenced { simulatedMemoryFence(ordering: .sequentiallyConsistent) }
                        program.answers.set(1, program.x.load(ordering: load))
                    },
                ])
        }
        let strong = Self.both.subtracting([[0, 0]])
        #expect(run(.relaxed, .relaxed) == Self.both)
        #expect(run(.releasing, .acquiring) == Self.both)
        #expect(run(.sequentiallyConsistent, .acquiring) == Self.both)
        #expect(run(.releasing, .sequentiallyConsistent) == Self.both)
        #expect(run(.sequentiallyConsistent, .sequentiallyConsistent) == strong)
        #expect(run(.relaxed, .relaxed, fenced: true) == strong)
    }

    @Test func `Law 33: a message is passed on by a releasing store and an acquiring load`() {
        func run(
            _ store: AtomicStoreOrdering, _ load: AtomicLoadOrdering,
            release: Bool = false, acquire: Bool = false
        ) -> Set<[Int]>? {
            outcomes(
                answers: 2,
                [
                    { program in
                        program.x.store(1, ordering: .relaxed)
                        if release { simulatedMemoryFence(ordering: .releasing) }
                        program.y.store(1, ordering: store)
                    },
                    { program in
                        program.answers.set(0, program.y.load(ordering: load))
                        if acquire { simulatedMemoryFence(ordering: .acquiring) }
                        program.answers.set(1, program.x.load(ordering: .relaxed))
                    },
                ])
        }
        let passed = Self.both.subtracting([[1, 0]])
        #expect(run(.relaxed, .relaxed) == Self.both)
        #expect(run(.releasing, .relaxed) == Self.both)
        #expect(run(.relaxed, .acquiring) == Self.both)
        #expect(run(.releasing, .acquiring) == passed)
        #expect(run(.relaxed, .acquiring, release: true) == passed)
        #expect(run(.releasing, .relaxed, acquire: true) == passed)
        #expect(run(.relaxed, .relaxed, release: true, acquire: true) == passed)
        #expect(run(.relaxed, .relaxed, release: true) == Self.both)
        #expect(run(.relaxed, .relaxed, acquire: true) == Self.both)
    }

    @Test func `Law 33: an exchange passes on what the value before it carried`() {
        func run(_ isStore: Bool) -> Set<[Int]>? {
            outcomes(
                answers: 2,
                [
                    { program in
                        program.x.store(1, ordering: .relaxed)
                        program.y.store(1, ordering: .releasing)
                    },
                    { program in
                        if isStore {
                            if program.y.load(ordering: .relaxed) == 1 {
                                program.y.store(2, ordering: .relaxed)
                            }
                        } else {
                            _ = program.y.compareExchange(
                                expected: 1, desired: 2, ordering: .relaxed)
                        }
                    },
                    { program in
                        guard program.y.load(ordering: .acquiring) == 2 else { return }
                        program.answers.set(0, 1)
                        program.answers.set(1, program.x.load(ordering: .relaxed))
                    },
                ])
        }
        #expect(run(false) == [[0, 0], [1, 1]])
        #expect(run(true) == [[0, 0], [1, 0], [1, 1]])
    }

    @Test func `Law 33: two readers agree about two writers only in one order of all`() {
        func run(_ store: AtomicStoreOrdering, _ load: AtomicLoadOrdering) -> Set<[Int]>? {
            outcomes(
                answers: 4,
                [
                    { $0.x.store(1, ordering: store) },
                    { $0.y.store(1, ordering: store) },
                    {
                        $0.answers.set(0, $0.x.load(ordering: load))
                        $0.answers.set(1, $0.y.load(ordering: load))
                    },
                    {
                        $0.answers.set(2, $0.y.load(ordering: load))
                        $0.answers.set(3, $0.x.load(ordering: load))
                    },
                ])
        }
        let disagree = [1, 0, 1, 0]
        #expect(run(.releasing, .acquiring)?.contains(disagree) == true)
        #expect(run(.releasing, .acquiring)?.count == 16)
        #expect(run(.sequentiallyConsistent, .sequentiallyConsistent)?.contains(disagree) == false)
        #expect(run(.sequentiallyConsistent, .sequentiallyConsistent)?.count == 15)
    }

    @Test func `Law 33: a thread never sees an earlier value after a later one`() {
        let seen = outcomes(
            answers: 2,
            [
                {
                    $0.x.store(1, ordering: .relaxed)
                    $0.x.store(2, ordering: .relaxed)
                },
                {
                    $0.answers.set(0, $0.x.load(ordering: .relaxed))
                    $0.answers.set(1, $0.x.load(ordering: .relaxed))
                },
            ])
        #expect(seen == [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]])
    }

    @Test func `Law 33: what one thread passes on and another one passes further is seen`() {
        func run(_ middle: AtomicLoadOrdering) -> Set<[Int]>? {
            outcomes(
                answers: 2,
                [
                    { $0.x.store(1, ordering: .releasing) },
                    {
                        guard $0.x.load(ordering: middle) == 1 else { return }
                        $0.y.store(1, ordering: .releasing)
                    },
                    {
                        guard $0.y.load(ordering: .acquiring) == 1 else { return }
                        $0.answers.set(0, 1)
                        $0.answers.set(1, $0.x.load(ordering: .relaxed))
                    },
                ])
        }
        #expect(run(.acquiring) == [[0, 0], [1, 1]])
        // Also by what is known of the value itself.
        #expect(run(.relaxed) == [[0, 0], [1, 1]])
    }

    @Test func `Law 33: additions are never lost, and exchanges see the last value`() {
        let sums = outcomes(
            answers: 1,
            [
                { _ = $0.x.wrappingAdd(1, ordering: .relaxed) },
                { _ = $0.x.wrappingAdd(2, ordering: .relaxed) },
                {
                    var value = $0.x.load(ordering: .relaxed)
                    for _ in 0..<rounds(debug: 2, release: 3) {
                        let result = $0.x.weakCompareExchange(
                            expected: value, desired: value + 4, ordering: .relaxed)
                        if result.exchanged { break }
                        value = result.original
                    }
                },
                {
                    let sum = $0.x.load(ordering: .sequentiallyConsistent)
                    if sum == 7 { $0.answers.set(0, sum) }
                },
            ])
        #expect(sums == [[0], [7]])
    }

    @Test func `Law 33: a weak exchange may fail at any value that a load could return`() {
        func run(isWeak: Bool) -> Set<[Int]>? {
            outcomes(
                answers: 3,
                [
                    {
                        $0.x.store(1, ordering: .relaxed)
                        $0.y.store(1, ordering: .relaxed)
                    },
                    {
                        $0.answers.set(0, $0.y.load(ordering: .relaxed))
                        let result =
                            isWeak
                            ? $0.x.weakCompareExchange(expected: 0, desired: 2, ordering: .relaxed)
                            : $0.x.compareExchange(expected: 0, desired: 2, ordering: .relaxed)
                        $0.answers.set(1, result.exchanged ? 1 : 0)
                        $0.answers.set(2, result.original)
                    },
                ])
        }
        // The exchange happened, or it failed at one; a weak one may fail at zero.
        let strong: Set<[Int]> = [[0, 1, 0], [0, 0, 1], [1, 0, 1]]
        #expect(run(isWeak: false) == strong)
        #expect(run(isWeak: true) == strong.union([[0, 0, 0], [1, 0, 0]]))
    }

    @Test(arguments: [SimulationStrategy.portfolio, .random, .sampling, .priorities(depth: 3)])
    func `Law 33: each strategy finds what the memory allows`(strategy: SimulationStrategy) {
        let seen = outcomes(
            answers: 2, strategy: strategy,
            [
                {
                    $0.x.store(1, ordering: .relaxed)
                    $0.answers.set(0, $0.y.load(ordering: .relaxed))
                },
                {
                    $0.y.store(1, ordering: .relaxed)
                    $0.answers.set(1, $0.x.load(ordering: .relaxed))
                },
            ])
        #expect(seen == Self.both)
    }
}
