import ExecutionContexts
import ExecutionContextsTesting
import Synchronization
import TestSupport
import Testing

private typealias Atomic = SimulatedAtomic
private typealias Mutex = SimulatedMutex

/// Programs over atomics as people write them, with the order that each needs and a weaker one.
@Suite(.patient)
struct SimulatedAtomicTests {
    // Unchecked, here and below: the orders of atomics guard the variables, or fail to.
    private final class Mailbox: @unchecked Sendable {
        @Shared("letter") private var letter = ""
        private let isFull = Atomic(false)

        func put(_ text: String, _ ordering: AtomicStoreOrdering) {
            letter = text
            isFull.store(true, ordering: ordering)
        }
        var text: String? { isFull.load(ordering: .acquiring) ? letter : nil }
    }

    private func searchMailbox(
        _ ordering: AtomicStoreOrdering, strategy: SimulationStrategy = .portfolio,
        replay token: String? = nil
    ) -> SimulationReport {
        search("mailbox", strategy: strategy, replay: token) { sim in
            let mailbox = Mailbox()
            sim.spawn("alice") { mailbox.put("hello", ordering) }
            sim.spawn("bob") { _ = mailbox.text }
        }
    }

    @Test(arguments: [SimulationStrategy.portfolio, .random, .exhaustive])
    func `Law 33: a flag without an order passes nothing on`(strategy: SimulationStrategy) throws {
        let failure = try #require(searchMailbox(.relaxed, strategy: strategy).failure)
        #expect(failure.kind == .dataRace)
        #expect(
            failure.happened.contains("'bob' reads 'letter', which 'alice' has written"),
            "\(failure)")
        let again = searchMailbox(.relaxed, replay: failure.token).failure
        #expect(again?.happened == failure.happened)
        let passed = searchMailbox(.releasing, strategy: strategy)
        #expect(passed.failure == nil, "\(passed)")
        #expect(passed.isComplete == (strategy == .exhaustive))
    }

    /// The protocol by which two threads exclude each other with loads and stores alone.
    private final class Peterson: Sendable {
        private let firstWants = Atomic(false)
        private let secondWants = Atomic(false)
        private let turn = Atomic(0)
        private let inside = Tracked(0, name: "inside")
        let most = Tracked(0, name: "most")

        func visit(_ me: Int, _ store: AtomicStoreOrdering, _ load: AtomicLoadOrdering) {
            want(me, true, store)
            turn.store(1 - me, ordering: store)
            // Once more, and then it gives up: a loop would never end in some schedules.
            let isFree = { [self] in
                !wants(1 - me, load) || turn.load(ordering: load) == me
            }
            guard isFree() || isFree() else { return want(me, false, .releasing) }
            inside.value += 1
            most.value = max(most.value, inside.value)
            inside.value -= 1
            want(me, false, .releasing)
        }

        private func want(_ me: Int, _ wants: Bool, _ store: AtomicStoreOrdering) {
            if me == 0 {
                firstWants.store(wants, ordering: store)
            } else {
                secondWants.store(wants, ordering: store)
            }
        }

        private func wants(_ other: Int, _ load: AtomicLoadOrdering) -> Bool {
            other == 0 ? firstWants.load(ordering: load) : secondWants.load(ordering: load)
        }
    }

    @Test func `Law 33: two threads exclude each other only in one order of all operations`() {
        func run(_ store: AtomicStoreOrdering, _ load: AtomicLoadOrdering) -> SimulationReport {
            search("peterson", schedules: rounds(debug: 500, release: 3_000)) { sim in
                let lock = Peterson()
                for me in 0..<2 { sim.spawn("thread \(me)") { lock.visit(me, store, load) } }
                sim.finally("one at a time") { lock.most.value <= 1 }
            }
        }
        let weak = run(.releasing, .acquiring)
        #expect(weak.failure?.kind == .invariant, "\(weak)")
        #expect(weak.failure?.told.contains("an earlier value of") == true, "\(weak)")
        let strong = run(.sequentiallyConsistent, .sequentiallyConsistent)
        #expect(strong.failure == nil, "\(strong)")
    }

    /// A value that is made at its first use.
    private final class Lazily: @unchecked Sendable {
        @Shared("made") private var made = 0
        private let isMade = Atomic(false)
        private let mutex = Mutex(0)

        func value(_ load: AtomicLoadOrdering, _ store: AtomicStoreOrdering) -> Int {
            if isMade.load(ordering: load) { return made }
            return mutex.withLock { count in
                if !isMade.load(ordering: .relaxed) {
                    count += 1
                    made = 42
                    isMade.store(true, ordering: store)
                }
                return made
            }
        }
    }

    @Test func `Law 33: a double check needs both orders, and a mutex passes on what it guards`() {
        func run(_ load: AtomicLoadOrdering, _ store: AtomicStoreOrdering) -> SimulationReport {
            search("lazily", schedules: 20_000, strategy: .exhaustive) { sim in
                let lazily = Lazily()
                for name in ["alice", "bob"] {
                    sim.spawn(name) { _ = lazily.value(load, store) }
                }
            }
        }
        #expect(run(.relaxed, .releasing).failure?.kind == .dataRace)
        #expect(run(.acquiring, .relaxed).failure?.kind == .dataRace)
        let right = run(.acquiring, .releasing)
        #expect(right.failure == nil && right.isComplete, "\(right)")
    }

    /// A stack of nodes that are never freed, so none is taken for another.
    private final class Stack: @unchecked Sendable {
        private let values: [Shared<Int>] = (0..<4).map { Shared(0, name: "value \($0)") }
        private let nexts: [Shared<Int>] = (0..<4).map { Shared(-1, name: "next \($0)") }
        private let head = Atomic(-1)

        func push(_ node: Int, _ value: Int, _ ordering: AtomicUpdateOrdering) {
            values[node].value = value
            var first = head.load(ordering: .relaxed)
            while true {
                nexts[node].value = first
                let result = head.weakCompareExchange(
                    expected: first, desired: node, successOrdering: ordering,
                    failureOrdering: .relaxed)
                if result.exchanged { return }
                first = result.original
            }
        }

        func pop(_ ordering: AtomicLoadOrdering) -> Int? {
            var first = head.load(ordering: ordering)
            while first >= 0 {
                let result = head.compareExchange(
                    expected: first, desired: nexts[first].value, successOrdering: .relaxed,
                    failureOrdering: ordering)
                if result.exchanged { return values[first].value }
                first = result.original
            }
            return nil
        }
    }

    @Test func `Law 33: a stack passes its nodes on by releasing and acquiring exchanges`() {
        func run(_ push: AtomicUpdateOrdering, _ pop: AtomicLoadOrdering) -> SimulationReport {
            search("stack", schedules: rounds(debug: 500, release: 2_000)) { sim in
                let (stack, sum) = (Stack(), Tracked(0, name: "sum"))
                for (name, nodes) in [("alice", [0, 1]), ("bob", [2, 3])] {
                    sim.spawn(name) { for node in nodes { stack.push(node, node + 1, push) } }
                }
                sim.spawn("carol") {
                    for _ in 0..<2 { if let value = stack.pop(pop) { sum.value += value } }
                }
                sim.finally("none lost") {
                    while let value = stack.pop(.acquiring) { sum.value += value }
                    return sum.value == 10
                }
            }
        }
        #expect(run(.relaxed, .acquiring).failure?.kind == .dataRace)
        #expect(run(.releasing, .relaxed).failure?.kind == .dataRace)
        let right = run(.releasing, .acquiring)
        #expect(right.failure == nil, "\(right)")
    }

    @Test func `Law 33: what contexts, sections, tasks and delays order, a program may rely on`()
        async
    {
        let report = await search("ordered", schedules: rounds(debug: 200, release: 600)) { sim in
            let (value, count) = (Shared(0, name: "value"), Counter())
            let (serial, section) = (sim.serial(named: "serial"), CriticalSection())
            let promise = Promise<Int>()
            for _ in 0..<2 {
                serial.execute {
                    value.value += 1
                    count.value.wrappingAdd(1, ordering: .relaxed)
                }
            }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask { section.execute { _ = count.value.load(ordering: .relaxed) } }
                }
            }
            serial.schedule(after: .seconds(1)) { promise.succeed(value.value) }
            _ = try? await promise.async.get()
            value.value += 1
            let sum = await Task { count.value.load(ordering: .relaxed) }.value
            if sum != 2 || value.value != 3 { throw Stale() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test(arguments: [SimulationStrategy.portfolio, .exhaustive])
    func `Law 33: a task that need not wait for what it awaits is ordered after it`(
        strategy: SimulationStrategy
    ) async {
        let schedules = rounds(debug: 1_000, release: 2_000)
        let report = await search("awaiting", schedules: schedules, strategy: strategy) { sim in
            let (value, count) = (Shared(0, name: "value"), Counter())
            let task = Task {
                value.value = 1
                count.value.store(1, ordering: .relaxed)
            }
            _ = count.value.load(ordering: .relaxed)
            await task.value
            if value.value != 1 || count.value.load(ordering: .relaxed) != 1 { throw Stale() }
            await withCheckedContinuation { continuation in
                sim.spawn("resumer") {
                    value.value = 2
                    count.value.store(2, ordering: .relaxed)
                    continuation.resume()
                }
            }
            if value.value != 2 || count.value.load(ordering: .relaxed) != 2 { throw Stale() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    private struct Stale: Error {}
    private final class Counter: Sendable { let value = Atomic(0) }

    private static let shared = Atomic(0)

    @Test func `Law 33: an atomic that two searches share is safe, and outlives their schedules`()
        async
    {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask {
                    _ = search("shared \(number)", schedules: 100, ignoring: [.nondeterminism]) {
                        sim in
                        for name in ["alice", "bob"] {
                            sim.spawn(name) {
                                Self.shared.wrappingAdd(1, ordering: .relaxed)
                                _ = Self.shared.load(ordering: .acquiring)
                            }
                        }
                    }
                }
            }
            group.addTask { for _ in 0..<1_000 { Self.shared.add(1, ordering: .relaxed) } }
        }
        #expect(Self.shared.load(ordering: .relaxed) > 0)
    }

    @Test func `Outside of a simulation an atomic is a variable behind a lock`() {
        let number = Atomic(7)
        #expect(number.exchange(8, ordering: .relaxed) == 7)
        #expect(number.add(2, ordering: .relaxed) == (8, 10))
        #expect(number.subtract(1, ordering: .relaxed) == (10, 9))
        #expect(number.wrappingSubtract(10, ordering: .releasing) == (9, -1))
        #expect(number.bitwiseAnd(0b1100, ordering: .acquiring) == (-1, 12))
        #expect(number.bitwiseOr(0b0001, ordering: .acquiringAndReleasing) == (12, 13))
        #expect(number.bitwiseXor(0b0111, ordering: .relaxed) == (13, 10))
        #expect(number.min(4, ordering: .relaxed) == (10, 4))
        #expect(number.max(6, ordering: .relaxed) == (4, 6))
        #expect(number.compareExchange(expected: 5, desired: 1, ordering: .relaxed) == (false, 6))
        #expect(
            number.weakCompareExchange(
                expected: 6, desired: 1, successOrdering: .relaxed, failureOrdering: .relaxed)
                == (true, 6))
        #expect(number.load(ordering: .sequentiallyConsistent) == 1)
        let flag = Atomic(true)
        #expect(flag.logicalXor(true, ordering: .relaxed) == (true, false))
        #expect(flag.logicalOr(true, ordering: .relaxed) == (false, true))
        #expect(flag.logicalAnd(false, ordering: .relaxed) == (true, false))
        let double = Atomic(-0.0)
        // As bits, zero is not minus zero.
        #expect(
            !double.compareExchange(expected: 0, desired: 1, ordering: .relaxed).exchanged)
        simulatedMemoryFence(ordering: .sequentiallyConsistent)
    }
}
