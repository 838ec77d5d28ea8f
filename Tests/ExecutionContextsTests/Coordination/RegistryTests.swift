import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Laws 9 and 10 for registrants: they are visited in order, while their receipts live, and
/// callbacks may register and deregister.
@Suite(.timeLimit(.minutes(30)))
struct RegistryTests {
    @Test func `Registrants are visited in the order of registration, while their receipts live`() {
        let registry = Registry<Int>()
        #expect(registry.isEmpty)
        let receipts = (0..<5).map { registry.register($0) }
        #expect(registry.registrants == [0, 1, 2, 3, 4])
        receipts[2].deregister()
        #expect(!receipts[2].isRegistered && receipts[3].isRegistered)
        let late = registry.register(5)
        var visited: [Int] = []
        registry.forEach { visited.append($0) }
        #expect(visited == [0, 1, 3, 4, 5])
        late.deregister()
        late.deregister()
        #expect(registry.registrants == [0, 1, 3, 4])
        // A local variable may be released after its last use.
        withExtendedLifetime(receipts) {}
    }

    @Test func `Law 10: releasing the receipt deregisters and releases the registrant`() {
        let registry = Registry<Box<Int>>()
        weak var witness: Box<Int>?
        do {
            let registrant = Box(0)
            witness = registrant
            let receipt = registry.register(registrant)
            #expect(receipt.isRegistered && witness != nil)
        }
        #expect(registry.isEmpty)
        #expect(witness == nil)
    }

    @Test func `Law 10: deregistering releases registrant and hook, even while the receipt lives`()
    {
        let registry = Registry<Box<Int>>()
        weak var (registrant, captured): (Box<Int>?, Box<Int>?)
        let receipt: Receipt
        do {
            let (one, other) = (Box(0), Box(0))
            (registrant, captured) = (one, other)
            receipt = registry.register(one) { other.value += 1 }
        }
        #expect(registrant != nil && captured != nil)
        receipt.deregister()
        #expect(registrant == nil && captured == nil)
    }

    @Test func `The hook runs once, however the registration ends`() {
        let hooks = Box(0)
        let registry = Registry<Int>()
        do {
            let receipt = registry.register(1) { hooks.value += 1 }
            receipt.deregister()
            #expect(hooks.value == 1)
            receipt.deregister()
        }
        #expect(hooks.value == 1)
        do { _ = registry.register(2) { hooks.value += 1 } }
        #expect(hooks.value == 2)
    }

    @Test func `Law 10: releasing the registry ends every registration, in order`() {
        let hooks = Box<[Int]>([])
        weak var witness: Registry<Box<Int>>?
        weak var registrant: Box<Int>?
        var receipts: [Receipt] = []
        do {
            let registry = Registry<Box<Int>>()
            witness = registry
            let box = Box(0)
            registrant = box
            receipts = (0..<3).map { index in
                registry.register(box) { hooks.withValue { $0.append(index) } }
            }
            withExtendedLifetime(registry) { receipts[1].deregister() }
        }
        // Neither receipts nor hooks retain the registry.
        #expect(witness == nil && registrant == nil)
        #expect(hooks.value == [1, 0, 2])
        #expect(receipts.allSatisfy { !$0.isRegistered })
        receipts.removeAll()
        #expect(hooks.value == [1, 0, 2])
    }

    @Test func `A registrant added during an iteration is first visited by the next one`() {
        let registry = Registry<@Sendable () -> Void>()
        let log = Box<[String]>([])
        let receipts = Box<[Receipt]>([])
        let first = registry.register {
            log.withValue { $0.append("first") }
            let late = registry.register { log.withValue { $0.append("late") } }
            receipts.withValue { $0.append(late) }
        }
        registry()
        #expect(log.value == ["first"])
        registry()
        #expect(log.value == ["first", "first", "late"])
        first.deregister()
        // The first registrant captured the registry.
        receipts.value = []
    }

    @Test
    func `An iteration does not visit a registrant after its deregistration, by itself or another`()
    {
        let registry = Registry<@Sendable () -> Void>()
        let log = Box<[Int]>([])
        let receipts = Box<[Receipt]>([])
        for index in 0..<4 {
            let receipt = registry.register {
                log.withValue { $0.append(index) }
                // Itself, a later registrant and an earlier one.
                if index == 1 { for other in [1, 2, 0] { receipts.value[other].deregister() } }
            }
            receipts.withValue { $0.append(receipt) }
        }
        registry()
        #expect(log.value == [0, 1, 3])
        registry()
        #expect(log.value == [0, 1, 3, 3])
        receipts.value = []
    }

    @Test func `Iterations nest, and the inner one visits registrants added by the outer one`() {
        let registry = Registry<Int>()
        var receipts = [registry.register(1), registry.register(2)]
        var visited: [[Int]] = []
        registry.forEach { number in
            if number == 1 { receipts.append(registry.register(3)) }
            visited.append(registry.registrants)
        }
        #expect(visited == [[1, 2, 3], [1, 2, 3]])
        withExtendedLifetime(receipts) {}
    }

    @Test func `Law 9: hooks and deinits may use the registry and the receipt`() {
        let registry = Registry<Closing>()
        let receipts = Box<[Receipt]>([])
        let log = Box<[Int]>([])
        let closing = Closing {
            log.withValue { $0.append(registry.registrants.count) }
            _ = registry.register(Closing {})
        }
        let receipt = registry.register(closing) {
            log.withValue { $0.append(registry.registrants.count) }
            receipts.withValue { $0.append(registry.register(Closing {})) }
            receipts.value.forEach { $0.deregister() }
        }
        receipt.deregister()
        withExtendedLifetime(closing) {}
        #expect(log.value.first == 0)
    }

    @Test func `An error ends the iteration, which rethrows it with its type`() {
        let registry = Registry<Int>()
        let receipts = (1...3).map { registry.register($0) }
        var visited: [Int] = []
        do {
            try registry.forEach { number throws(Wrong) in
                visited.append(number)
                if number == 2 { throw Wrong.deliberately }
            }
        } catch { #expect(error == .deliberately) }
        #expect(visited == [1, 2])
        withExtendedLifetime(receipts) {}
    }

    @Test func `On a context, a call skips registrants that come after it or leave before it runs`()
    {
        let context = ManualContext()
        let log = Box<[String]>([])
        var registry: Registry<@Sendable (String) -> Void>? = Registry()
        let receipts = ["a", "b", "c"].map { name in
            registry!.register { event in log.withValue { $0.append(name + event) } }
        }
        registry!("1", on: context)
        let late = registry!.register { event in log.withValue { $0.append("late" + event) } }
        receipts[1].deregister()
        // The pending call retains the registry.
        registry = nil
        #expect(log.value.isEmpty && late.isRegistered)
        context.runReady()
        #expect(log.value == ["a1", "c1"])
        #expect(!late.isRegistered)
        withExtendedLifetime(receipts) {}
    }

    @Test func `Closures run with the event, or without one, on the caller or on a context`() {
        let context = ManualContext()
        let sum = Box(0)
        let numbers = Registry<@Sendable (Int) -> Void>()
        let plain = Registry<@Sendable () -> Void>()
        let receipts = [numbers.register { sum.add($0) }, plain.register { sum.add(100) }]
        numbers(1)
        plain()
        #expect(sum.value == 101)
        numbers(2, on: context)
        plain(on: context)
        #expect(sum.value == 101)
        context.runReady()
        #expect(sum.value == 203)
        withExtendedLifetime(receipts) {}
    }

    @Test
    func `Laws 9, 10: when many threads register, deregister and iterate, each hook runs once`()
        async
    {
        let registry = Registry<Box<Int>>()
        let perThread = rounds(debug: 400, release: 8_000)
        let (hooks, wrong) = (Box(0), Box(0))
        let alive = Box(0)
        await watched {
            onThreads(4) {
                var kept: [Receipt] = []
                for round in 0..<perThread {
                    let token = Token(alive)
                    kept.append(registry.register(Box(round)) { [token] in token.count(hooks) })
                    if round % 3 == 0 {
                        // Two concurrent calls, one of which deregisters.
                        let shared = kept.removeFirst()
                        DispatchQueue.concurrentPerform(iterations: 2) { _ in shared.deregister() }
                        if shared.isRegistered { wrong.add(1) }
                    }
                    if round % 5 == 4 { kept.removeLast() }
                    if round % 16 == 0 {
                        registry.forEach { box in if box.value < 0 { wrong.add(1) } }
                    }
                    if kept.count > 20 { kept.removeFirst(10) }
                }
            }
        }
        #expect(registry.isEmpty && wrong.value == 0)
        #expect(hooks.value == 4 * perThread)
        #expect(alive.value == 0)
    }
}

/// Calls a closure in its deinit.
private final class Closing: Sendable {
    private let close: @Sendable () -> Void
    init(_ close: @escaping @Sendable () -> Void) { self.close = close }
    deinit { close() }
}

/// Counts itself while it lives.
private final class Token: Sendable {
    private let alive: Box<Int>
    init(_ alive: Box<Int>) {
        self.alive = alive
        alive.add(1)
    }
    deinit { alive.add(-1) }
    func count(_ hooks: Box<Int>) { hooks.add(1) }
}

/// Registrants isolated to the main actor, as those of a user interface are.
@Suite struct MainRegistryTests {
    @MainActor private final class Screen {
        var events: [String] = []
        nonisolated init() {}
    }

    @Test func `A registry calls closures of the main actor on the main queue`() async throws {
        let listeners = Registry<@MainActor @Sendable (String) -> Void>()
        let screen = Screen()
        let receipt = listeners.register { event in screen.events.append(event) }
        listeners("started", on: .main)
        listeners.forEach(on: .main) { $0("and ended") }
        try await MainContext().run {}
        #expect(await screen.events == ["started", "and ended"])
        receipt.deregister()
    }
}
