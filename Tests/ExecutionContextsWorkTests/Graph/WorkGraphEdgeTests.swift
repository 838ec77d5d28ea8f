import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Changes, ends and requests that are pending at the same time, between two jobs of a graph.
@Suite(.patient)
struct WorkGraphEdgeTests {
    private final class Witness: Sendable {}
    private let context = ManualContext()
    private let log = Box<[String]>([])

    /// Returns work items by name that begin and do not end, and their flights.
    private func works() -> (SingleFlight<String, Int>, Box<[String: Flight<Int>]>) {
        let flights = Box<[String: Flight<Int>]>([:])
        let works = SingleFlight<String, Int>(name: "work", on: context) { [log] key, flight in
            log.withValue { $0.append(key) }
            flights.withValue { $0[key] = flight }
        }
        return (works, flights)
    }

    @Test func `Law 32: a need that is requested while a priority changes gets the new priority`() {
        let (works, flights) = works()
        let subscription = works["a"].subscribe { _ in }
        context.runReady()
        // Both are pending. The change comes first; the need was requested before it was counted.
        subscription.priority = .highest
        flights.value["a"]!.depend(on: works["b"]) { _ in }
        context.runReady()
        #expect(flights.value["a"]!.priority == .highest)
        #expect(flights.value["b"]!.priority == .highest)
    }

    @Test func `A need with a priority of its own keeps it until the work's priority changes`() {
        let (works, flights) = works()
        let subscription = works["a"].subscribe { _ in }
        context.runReady()
        flights.value["a"]!.depend(on: works["b"]) { _ in }.priority = .low
        context.runReady()
        #expect(flights.value["b"]!.priority == .low)
        subscription.priority = .high
        context.runReady()
        #expect(flights.value["b"]!.priority == .high)
    }

    @Test func `Law 32: a handler does not receive an unchanged priority again`() {
        let (works, flights) = works()
        let (first, second) = (
            works["a"].subscribe(priority: .high) { _ in },
            works["a"].subscribe(priority: .medium) { _ in }
        )
        context.runReady()
        let seen = Box<[WorkPriority]>([])
        flights.value["a"]!.onPriority { priority in seen.withValue { $0.append(priority) } }
        context.runReady()
        // Down and up again in one job.
        works["b"].subscribe { event in
            guard event.outcome != nil else { return }
            first.priority = .low
            second.priority = .high
        }
        context.runReady()
        flights.value["b"]!.succeed(1)
        context.runReady()
        #expect(seen.value == [.high])
    }

    @Test
    func `Law 32: a handler that is registered as the priority changes receives only the new one`()
    {
        let (works, flights) = works()
        let subscription = works["a"].subscribe { _ in }
        context.runReady()
        let (seen, flight) = (Box<[WorkPriority]>([]), flights.value["a"]!)
        works["b"].subscribe { event in
            guard event.outcome != nil else { return }
            flight.onPriority { priority in seen.withValue { $0.append(priority) } }
            subscription.priority = .highest
        }
        context.runReady()
        flights.value["b"]!.succeed(1)
        context.runReady()
        #expect(seen.value == [.highest])
    }

    @Test func `A handler receives no priority after the end, even if it was registered before`() {
        let (works, flights) = works()
        let subscription = works["a"].subscribe { _ in }
        context.runReady()
        let (seen, flight) = (Box<[WorkPriority]>([]), flights.value["a"]!)
        works["b"].subscribe { event in
            guard event.outcome != nil else { return }
            flight.onPriority { priority in seen.withValue { $0.append(priority) } }
            subscription.cancel()
        }
        context.runReady()
        flights.value["b"]!.succeed(1)
        context.runReady()
        #expect(flight.isCancelled)
        #expect(seen.value.isEmpty)
    }

    @Test func `Law 10: cancelled work keeps no partial value, also if its flight is kept`() {
        weak var seen: Witness?
        let flight = Box<Flight<Witness>?>(nil)
        let work: SharedWork<Witness> = WorkGraph(on: context).work(named: "work") {
            flight.value = $0
        }
        let subscription = work.subscribe { _ in }
        context.runReady()
        do {
            let witness = Witness()
            seen = witness
            flight.value!.yield(witness)
        }
        context.runReady()
        #expect(seen != nil)
        subscription.cancel()
        context.runReady()
        #expect(flight.value!.isCancelled)
        #expect(seen == nil)
    }

    @Test(arguments: ["ended", "cancelled", "cycle"])
    func `Law 10: a need that never subscribes is inactive and holds no handler`(how: String) {
        weak var seen: Witness?
        let (works, flights) = works()
        let subscription = works["a"].subscribe { _ in }
        context.runReady()
        let flight = flights.value["a"]!
        switch how {
        case "ended": flight.succeed(1)
        case "cancelled": subscription.cancel()
        default: break
        }
        let need: Subscription
        do {
            let witness = Witness()
            seen = witness
            need = flight.depend(on: works[how == "cycle" ? "a" : "b"]) { _ in _ = witness }
        }
        context.runReady()
        #expect(log.value == ["a"])
        #expect(works.graph.liveCount == 0)
        #expect(!need.isActive)
        #expect(!need.cancel())
        #expect(seen == nil)
    }

    @Test func `Work that fails because it needs itself begins no other work`() {
        let graph = WorkGraph(on: context)
        let own = Box<SharedWork<Int>?>(nil)
        let other: SharedWork<Int> = graph.work(named: "other") { [log] _ in
            log.withValue { $0.append("other") }
        }
        let work: SharedWork<Int> = graph.work(named: "own") { flight in
            flight.follow(own.value!)
            flight.follow(other)
        }
        own.value = work
        let value = work.value()
        context.runReady()
        #expect(throws: WorkError.cycle(["own", "own"])) { try value.outcome?.get() }
        #expect(log.value.isEmpty)
        #expect(graph.liveCount == 0)
        own.value = nil
    }

    @Test func `Law 1: if the context drops the subscription, the value ends with an error`() {
        struct Dropping: SerialContext {
            func execute(_ work: @escaping Work) {}
        }
        let flights = SingleFlight<Int, Int>(on: Dropping()) { _, flight in flight.succeed(1) }
        let value = flights[1].value()
        #expect(throws: Refusal.self) { try value.outcome?.get() }
        #expect(value.outcome != nil)
    }
}
