import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Law 31: equal work in flight starts once, and every subscriber that stays receives the end once.
@Suite(.patient)
struct SingleFlightTests {
    private struct Oops: Error {}
    private let context = ManualContext()
    /// The flights that have begun, by key, in order.
    private let begun = Box<[(key: String, flight: Flight<Int>)]>([])
    private let received = Box<[String]>([])

    private func flights() -> SingleFlight<String, Int> {
        SingleFlight(name: "size", on: context) { [begun] key, flight in
            begun.withValue { $0.append((key, flight)) }
        }
    }

    private func note(_ name: String) -> @Sendable (WorkEvent<Int>) -> Void {
        { [received] event in received.withValue { $0.append("\(name): \(event.text)") } }
    }

    @Test func `Law 31: sixty-four subscribers start work once, and each receives the end once`() {
        let flights = flights()
        for index in 0..<64 { flights["wren"].subscribe(note("\(index)")) }
        context.runReady()
        #expect(begun.value.map(\.key) == ["wren"])
        #expect(flights.graph.liveCount == 1)
        #expect(begun.withValue { $0[0].flight }.succeed(7))
        context.runReady()
        #expect(received.value == (0..<64).map { "\($0): 7" })
        #expect(flights.graph.liveCount == 0)
    }

    @Test func `Law 31: work begins with its first subscriber, at that subscriber's priority`() {
        let priority = Box<WorkPriority?>(nil)
        let flights = SingleFlight<Int, Int>(on: context) { _, flight in
            priority.value = flight.priority
            flight.succeed(1)
        }
        let work = flights[1]
        context.runReady()
        #expect(priority.value == nil)
        work.subscribe(priority: .highest, note("a"))
        context.runReady()
        #expect(priority.value == .highest)
        #expect(received.value == ["a: 1"])
    }

    @Test
    func `Law 31: work that ends in its body notifies each subscriber, and leaves nothing behind`()
    {
        let flights = SingleFlight<Int, Int>(on: context) { key, flight in flight.succeed(key * 2) }
        flights[4].subscribe(note("a"))
        flights[4].subscribe(note("b"))
        flights[5].subscribe(note("c"))
        context.runReady()
        #expect(received.value.sorted() == ["a: 8", "b: 8", "c: 10"])
        #expect(flights.graph.liveCount == 0)
    }

    @Test
    func `Law 31: a failure is delivered like a value, and a new request begins the work anew`() {
        let flights = flights()
        flights["wren"].subscribe(note("a"))
        context.runReady()
        begun.withValue { $0[0].flight }.fail(Oops())
        context.runReady()
        flights["wren"].subscribe(note("b"))
        context.runReady()
        #expect(received.value == ["a: Oops()"])
        #expect(begun.value.count == 2)
        begun.withValue { $0[1].flight }.succeed(2)
        context.runReady()
        #expect(received.value == ["a: Oops()", "b: 2"])
    }

    @Test func `Law 31: a subscriber that receives the end and asks again gets a new flight`() {
        let flights = flights()
        flights["wren"].subscribe { [note = note("again")] _ in flights["wren"].subscribe(note) }
        context.runReady()
        begun.withValue { $0[0].flight }.succeed(1)
        context.runReady()
        #expect(begun.value.count == 2)
        #expect(received.value.isEmpty)
        begun.withValue { $0[1].flight }.succeed(2)
        context.runReady()
        #expect(received.value == ["again: 2"])
    }

    @Test func `Law 31: when the first subscriber leaves, a later one still gets the value`() {
        let flights = flights()
        let first = flights["wren"].subscribe(note("first"))
        flights["wren"].subscribe(note("second"))
        context.runReady()
        #expect(first.cancel())
        #expect(!first.cancel())
        context.runReady()
        let flight = begun.withValue { $0[0].flight }
        #expect(!flight.isCancelled)
        flight.succeed(3)
        context.runReady()
        #expect(received.value == ["second: 3"])
    }

    @Test
    func `Law 31: when the last subscriber leaves the work is cancelled once and its key is free`()
    {
        let flights = flights()
        let subscriptions = (0..<3).map { flights["wren"].subscribe(note("\($0)")) }
        context.runReady()
        let flight = begun.withValue { $0[0].flight }
        flight.onCancel { [received] in received.withValue { $0.append("cancelled") } }
        for subscription in subscriptions { subscription.cancel() }
        context.runReady()
        #expect(flight.isCancelled)
        #expect(!flight.succeed(9))
        context.runReady()
        #expect(received.value == ["cancelled"])
        #expect(flights.graph.liveCount == 0)
        // A handler that is registered now runs at once.
        flight.onCancel { [received] in received.withValue { $0.append("called late") } }
        flights["wren"].subscribe(note("new"))
        context.runReady()
        #expect(received.value == ["cancelled", "called late"])
        #expect(begun.value.count == 2)
    }

    @Test func `Law 31: work whose only subscriber leaves before it begins never begins`() {
        let flights = flights()
        #expect(flights["wren"].subscribe(note("a")).cancel())
        context.runReady()
        #expect(begun.value.isEmpty)
        #expect(flights.graph.liveCount == 0)
    }

    @Test
    func `Law 31: a subscriber that joins after all have left receives an end that is pending`() {
        let flights = flights()
        let first = flights["wren"].subscribe(note("first"))
        context.runReady()
        first.cancel()
        flights["wren"].subscribe(note("second"))
        // Claimed now; delivered in a job behind those that leave and join.
        #expect(begun.withValue { $0[0].flight }.succeed(4))
        context.runReady()
        #expect(received.value == ["second: 4"])
        #expect(begun.value.count == 1)
    }

    @Test
    func `Law 31: a subscriber that another one's handler cancels does not receive the event`() {
        let flights = flights()
        let second = Box<Subscription?>(nil)
        flights["wren"].subscribe { [received] _ in
            received.withValue { $0.append("first") }
            second.value?.cancel()
        }
        second.value = flights["wren"].subscribe(note("second"))
        flights["wren"].subscribe(note("third"))
        context.runReady()
        let flight = begun.withValue { $0[0].flight }
        flight.yield(1)
        context.runReady()
        #expect(received.value == ["first", "third: nearly 1"])
        flight.succeed(2)
        context.runReady()
        #expect(received.value == ["first", "third: nearly 1", "first", "third: 2"])
        second.value = nil
    }

    @Test
    func `Progress and partial values come in order, and a late subscriber receives the last ones`()
    {
        let flights = flights()
        flights["wren"].subscribe(note("a"))
        context.runReady()
        let flight = begun.withValue { $0[0].flight }
        flight.report(WorkProgress(completed: 1, total: 4))
        context.runReady()
        flight.yield(10)
        flight.report(WorkProgress(completed: 2, total: 4))
        context.runReady()
        flights["wren"].subscribe(note("b"))
        flight.succeed(20)
        context.runReady()
        let expected = [
            "a: 1 of 4", "a: nearly 10", "a: 2 of 4", "b: 2 of 4", "b: nearly 10", "a: 20", "b: 20",
        ]
        #expect(received.value == expected)
        #expect(!flight.succeed(30))
        flight.yield(40)
        context.runReady()
        #expect(received.value == expected)
    }

    @Test func `Law 26: a flight that is released ends with an error that names it`() {
        let flights = SingleFlight<Int, Int>(name: "size", on: context) { _, _ in }
        flights[3].subscribe(note("a"))
        context.runReady()
        #expect(received.value.count == 1)
        let expected = "'size[3]' was released before its work had ended (law 26)"
        #expect(received.value.first?.contains(expected) == true)
        #expect(flights.graph.liveCount == 0)
    }

    @Test
    func `Law 26: cancelling a value unsubscribes it, and cancelling the last cancels the work`()
        throws
    {
        let flights = flights()
        let values = (0..<2).map { _ in flights["wren"].value() }
        context.runReady()
        let flight = begun.withValue { $0[0].flight }
        #expect(values[0].cancel())
        context.runReady()
        #expect(!flight.isCancelled)
        values[1].cancel()
        context.runReady()
        #expect(flight.isCancelled)
        #expect(throws: CancellationError.self) { try values[1].outcome?.get() }
    }

    @Test func `Law 24: a flight that follows an Async completes like it, and cancels it`() {
        let promises = [Promise<Int>(), Promise<Int>()]
        let flights = SingleFlight<Int, Int>(on: context) { key, flight in
            flight.follow(promises[key].async)
        }
        flights[0].subscribe(note("a"))
        let other = flights[1].subscribe(note("b"))
        context.runReady()
        promises[0].succeed(5)
        other.cancel()
        context.runReady()
        #expect(received.value == ["a: 5"])
        #expect(throws: CancellationError.self) { try promises[1].async.outcome?.get() }
    }

    @Test
    func `Law 31: an Async made by key starts once and is cancelled with its last subscriber`() {
        let asked = Box<[String]>([])
        let promise = Promise<Int>()
        let sizes = SingleFlight<String, Int>(name: "size", on: context) { key in
            asked.withValue { $0.append(key) }
            return promise.async
        }
        let subscriptions = (0..<2).map { sizes["wren"].subscribe(note("\($0)")) }
        context.runReady()
        #expect(asked.value == ["wren"])
        for subscription in subscriptions { subscription.cancel() }
        context.runReady()
        #expect(throws: CancellationError.self) { try promise.async.outcome?.get() }
        #expect(received.value.isEmpty)
    }

    @Test func `Law 10: handlers are released at the end and on leaving`() {
        final class Witness: Sendable {}
        weak var ended: Witness?
        weak var left: Witness?
        let flights = flights()
        var subscriptions: [Subscription] = []
        do {
            let witnesses = [Witness(), Witness()]
            (ended, left) = (witnesses[0], witnesses[1])
            subscriptions.append(flights["a"].subscribe { _ in _ = witnesses[0] })
            subscriptions.append(
                flights["b"].subscribe { [witness = witnesses[1]] _ in _ = witness })
        }
        context.runReady()
        #expect(ended != nil && left != nil)
        begun.withValue { $0[0].flight }.succeed(1)
        subscriptions[1].cancel()
        context.runReady()
        #expect(ended == nil)
        #expect(left == nil)
        withExtendedLifetime(subscriptions) {}
    }

    @Test
    func `Law 1: if the context refuses the subscription, the subscriber receives the refusal`() {
        struct Closed: SerialContext {
            func execute(_ work: @escaping Work) {}
            func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
                refused(Refusal(.shutDown, by: "closed"))
            }
        }
        let flights = SingleFlight<Int, Int>(on: Closed()) { _, flight in flight.succeed(1) }
        flights[1].subscribe(note("a"))
        let refused = flights[1].value()
        #expect(throws: Refusal.self) { try refused.outcome?.get() }
        #expect(received.value.count == 1)
    }
}
