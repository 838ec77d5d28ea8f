import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Laws 9 and 10 for registrants: they are visited in order, while they are registered, and
/// callbacks may register and deregister.
@Suite(.patient)
struct RegistryTests {
    @Test func `Registrants are visited in the order of registration, while they are registered`() {
        let registry = Registry<Int>()
        #expect(registry.isEmpty)
        let registrations = (0..<5).map { registry.register($0) }
        #expect(registry.registrants == [0, 1, 2, 3, 4])
        registrations[2].deregister()
        #expect(!registrations[2].isRegistered && registrations[3].isRegistered)
        let late = registry.register(5)
        var visited: [Int] = []
        registry.forEach { visited.append($0) }
        #expect(visited == [0, 1, 3, 4, 5])
        late.deregister()
        late.deregister()
        #expect(registry.registrants == [0, 1, 3, 4])
        // A local variable may be released after its last use.
        withExtendedLifetime(registrations) {}
    }

    @Test func `Law 10: releasing a registration deregisters, and releases the registrant`() {
        let registry = Registry<Box<Int>>()
        weak var witness: Box<Int>?
        do {
            let registrant = Box(0)
            witness = registrant
            let registration = registry.register(registrant)
            #expect(registration.isRegistered && witness != nil)
        }
        #expect(registry.isEmpty)
        #expect(witness == nil)
    }

    @Test
    func `Law 10: deregistering releases registrant and hook, even while the registration lives`() {
        let registry = Registry<Box<Int>>()
        weak var (registrant, captured): (Box<Int>?, Box<Int>?)
        let registration: Registration
        do {
            let (one, other) = (Box(0), Box(0))
            (registrant, captured) = (one, other)
            registration = registry.register(one) { other.value += 1 }
        }
        #expect(registrant != nil && captured != nil)
        registration.deregister()
        #expect(registrant == nil && captured == nil)
    }

    @Test func `The hook runs once, however the registration ends`() {
        let hooks = Box(0)
        let registry = Registry<Int>()
        do {
            let registration = registry.register(1) { hooks.value += 1 }
            registration.deregister()
            #expect(hooks.value == 1)
            registration.deregister()
        }
        #expect(hooks.value == 1)
        do { _ = registry.register(2) { hooks.value += 1 } }
        #expect(hooks.value == 2)
    }

    @Test func `Law 10: releasing the registry ends every registration, in order`() {
        let hooks = Box<[Int]>([])
        weak var witness: Registry<Box<Int>>?
        weak var registrant: Box<Int>?
        var registrations: [Registration] = []
        do {
            let registry = Registry<Box<Int>>()
            witness = registry
            let box = Box(0)
            registrant = box
            registrations = (0..<3).map { index in
                registry.register(box) { hooks.withValue { $0.append(index) } }
            }
            withExtendedLifetime(registry) { registrations[1].deregister() }
        }
        // Neither registrations nor hooks retain the registry.
        #expect(witness == nil && registrant == nil)
        #expect(hooks.value == [1, 0, 2])
        #expect(registrations.allSatisfy { !$0.isRegistered })
        registrations.removeAll()
        #expect(hooks.value == [1, 0, 2])
    }

    @Test func `A registrant added during an iteration is first visited by the next one`() {
        let registry = Registry<@Sendable () -> Void>()
        let log = Box<[String]>([])
        let registrations = Box<[Registration]>([])
        let first = registry.register {
            log.withValue { $0.append("first") }
            let late = registry.register { log.withValue { $0.append("late") } }
            registrations.withValue { $0.append(late) }
        }
        registry()
        #expect(log.value == ["first"])
        registry()
        #expect(log.value == ["first", "first", "late"])
        first.deregister()
        // The first registrant captured the registry.
        registrations.value = []
    }

    @Test
    func `An iteration does not visit a registrant after its deregistration, by itself or another`()
    {
        let registry = Registry<@Sendable () -> Void>()
        let log = Box<[Int]>([])
        let registrations = Box<[Registration]>([])
        for index in 0..<4 {
            let registration = registry.register {
                log.withValue { $0.append(index) }
                // Itself, a later registrant and an earlier one.
                if index == 1 {
                    for other in [1, 2, 0] { registrations.value[other].deregister() }
                }
            }
            registrations.withValue { $0.append(registration) }
        }
        registry()
        #expect(log.value == [0, 1, 3])
        registry()
        #expect(log.value == [0, 1, 3, 3])
        registrations.value = []
    }

    @Test func `Iterations nest, and the inner one visits registrants added by the outer one`() {
        let registry = Registry<Int>()
        var registrations = [registry.register(1), registry.register(2)]
        var visited: [[Int]] = []
        registry.forEach { number in
            if number == 1 { registrations.append(registry.register(3)) }
            visited.append(registry.registrants)
        }
        #expect(visited == [[1, 2, 3], [1, 2, 3]])
        withExtendedLifetime(registrations) {}
    }

    @Test func `Law 9: hooks and deinits may use the registry and the registration`() {
        let registry = Registry<Closing>()
        let registrations = Box<[Registration]>([])
        let log = Box<[Int]>([])
        let closing = Closing {
            log.withValue { $0.append(registry.registrants.count) }
            _ = registry.register(Closing {})
        }
        let registration = registry.register(closing) {
            log.withValue { $0.append(registry.registrants.count) }
            registrations.withValue { $0.append(registry.register(Closing {})) }
            registrations.value.forEach { $0.deregister() }
        }
        registration.deregister()
        withExtendedLifetime(closing) {}
        #expect(log.value.first == 0)
    }

    @Test func `An error ends the iteration, which rethrows it with its type`() {
        let registry = Registry<Int>()
        let registrations = (1...3).map { registry.register($0) }
        var visited: [Int] = []
        do {
            try registry.forEach { number throws(Wrong) in
                visited.append(number)
                if number == 2 { throw Wrong.deliberately }
            }
        } catch { #expect(error == .deliberately) }
        #expect(visited == [1, 2])
        withExtendedLifetime(registrations) {}
    }

    @Test func `On a context, a call skips registrants that come after it or leave before it runs`()
    {
        let context = ManualContext()
        let log = Box<[String]>([])
        var registry: Registry<@Sendable (String) -> Void>? = Registry()
        let registrations = ["a", "b", "c"].map { name in
            registry!.register { event in log.withValue { $0.append(name + event) } }
        }
        registry!("1", on: context)
        let late = registry!.register { event in log.withValue { $0.append("late" + event) } }
        registrations[1].deregister()
        // The pending call retains the registry.
        registry = nil
        #expect(log.value.isEmpty && late.isRegistered)
        context.runReady()
        #expect(log.value == ["a1", "c1"])
        #expect(!late.isRegistered)
        withExtendedLifetime(registrations) {}
    }

    @Test func `Closures run with the event, or without one, on the caller or on a context`() {
        let context = ManualContext()
        let sum = Box(0)
        let numbers = Registry<@Sendable (Int) -> Void>()
        let plain = Registry<@Sendable () -> Void>()
        let registrations = [numbers.register { sum.add($0) }, plain.register { sum.add(100) }]
        numbers(1)
        plain()
        #expect(sum.value == 101)
        numbers(2, on: context)
        plain(on: context)
        #expect(sum.value == 101)
        context.runReady()
        #expect(sum.value == 203)
        withExtendedLifetime(registrations) {}
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
                var kept: [Registration] = []
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
        let registration = listeners.register { event in screen.events.append(event) }
        listeners("started", on: .main)
        listeners.forEach(on: .main) { $0("and ended") }
        try await MainContext().run {}
        #expect(await screen.events == ["started", "and ended"])
        registration.deregister()
    }
}
