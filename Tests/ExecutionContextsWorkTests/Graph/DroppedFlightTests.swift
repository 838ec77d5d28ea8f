import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Work and confined calls on contexts that drop their jobs.
@Suite(.patient)
struct DroppedFlightTests {
    private final class Witness: Sendable {}

    @Test(arguments: Dropper.Way.allCases)
    func `Law 31: work answers all its subscribers when its context drops its end`(
        _ way: Dropper.Way
    ) async {
        let base = ManualContext()
        let dropper = Dropper(way, over: base)
        let flight = Box<Flight<Int>?>(nil)
        let ends = Box(0)
        let stopped = Box(0)
        let flights = SingleFlight<Int, Int>(on: dropper.context) { _, begun in
            flight.value = begun
            begun.onEnd { stopped.withValue { $0 += 1 } }
        }
        weak var witness: Witness?
        let value = flights[1].value()
        base.runReady()
        let events = flights[1].events().makeAsyncIterator()
        base.runReady()
        do {
            let captured = Witness()
            witness = captured
            flights[1].subscribe { event in
                withExtendedLifetime(captured) {}
                if event.outcome != nil { ends.withValue { $0 += 1 } }
            }
        }
        base.runReady()
        dropper.spoil()
        #expect(flight.value?.succeed(1) == true)
        // The end of the budget of a shutdown is a delay.
        base.advance(by: .seconds(1))
        while dropper.dropKept() || base.runReady() > 0 {}
        #expect(value.outcome != nil)
        #expect(ends.value == 1)
        #expect(stopped.value == 1)
        #expect(witness == nil)
        #expect(flights.graph.liveCount == 0)
        flight.value = nil
        guard value.outcome != nil else { return }
        var iterator = events
        var count = 0
        while let event = await iterator.next(isolation: nil) {
            if event.outcome != nil { count += 1 }
        }
        #expect(count == 1)
    }

    @Test(arguments: Dropper.Way.allCases)
    func `Law 1: a subscription that the context drops has a refusal as its end`(
        _ way: Dropper.Way
    ) async {
        let base = ManualContext()
        let dropper = Dropper(way, over: base)
        let flights = SingleFlight<Int, Int>(on: dropper.context) { _, flight in flight.succeed(1) }
        let ends = Box(0)
        dropper.spoil()
        let value = flights[1].value()
        flights[1].subscribe { event in
            if event.outcome != nil { ends.withValue { $0 += 1 } }
        }
        var iterator = flights[1].events().makeAsyncIterator()
        base.advance(by: .seconds(1))
        while dropper.dropKept() || base.runReady() > 0 {}
        #expect(value.outcome != nil)
        if case .failure(let error) = value.outcome { #expect(error is Refusal) }
        #expect(ends.value == 1)
        #expect(await iterator.next(isolation: nil)?.outcome != nil)
    }

    @Test func `Law 31: the refusal of a dropped end says why the context dropped it`() {
        let base = ManualContext()
        let token = InvalidationToken()
        let flight = Box<Flight<Int>?>(nil)
        let flights = SingleFlight<Int, Int>(on: base.valid(while: token)) { flight.value = $1 }
        let value = flights[1].value()
        base.runReady()
        token.invalidate()
        flight.value = nil
        base.runReady()
        do { _ = try value.outcome?.get() } catch {
            #expect((error as? Refusal)?.reason == .invalidated)
        }
        #expect(value.outcome != nil)
    }

    @Test func `Law 31: work on a context that dropped a progress reports the next one`() {
        let base = ManualContext()
        let drops = Box(false)
        let context = Dropping(base, drops)
        let flight = Box<Flight<Int>?>(nil)
        let flights = SingleFlight<Int, Int>(on: context) { flight.value = $1 }
        let seen = Box<[String]>([])
        let subscription = flights[1].subscribe { event in
            seen.withValue { $0.append(event.text) }
        }
        let priority = Box<[WorkPriority]>([])
        base.runReady()
        flight.value!.onPriority { new in priority.withValue { $0.append(new) } }
        base.runReady()
        drops.value = true
        flight.value!.yield(1)
        subscription.priority = .high
        drops.value = false
        flight.value!.yield(2)
        subscription.priority = .low
        base.runReady()
        #expect(seen.value == ["nearly 2"])
        #expect(priority.value == [.medium, .high, .low])
        drops.value = true
        #expect(subscription.cancel())
        #expect(flight.value!.isCancelled)
        flight.value = nil
    }

    @Test func `Law 1: a confined call that its context drops is answered with a refusal`() {
        let context = Dropping(ManualContext(), Box(true))
        let number = Confined(1, to: context)
        let value = number.submit { $0 }
        #expect(throws: Refusal.self) { try value.outcome?.get() }
        #expect(value.outcome != nil)
    }

    @Test(arguments: [false, true])
    func `Laws 2, 31: jobs of the context wait in order for an answer that runs elsewhere`(
        dropsThem: Bool
    ) async {
        await watched {
            let base = GlobalContext().serial(named: "works")
            let drops = Box(true)
            let order = Box<[Int]>([])
            let flights = SingleFlight<Int, Int>(on: Dropping(base, drops)) { key, flight in
                #expect(base.isCurrent == true)
                order.withValue { $0.append(key) }
                flight.succeed(key)
            }
            let (begun, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            GlobalContext().execute {
                // Dropped, so answered here.
                flights[0].subscribe { event in
                    #expect(throws: Refusal.self) { try event.outcome?.get() }
                    begun.signal()
                    goesOn.wait()
                }
            }
            begun.wait()
            drops.value = false
            let inline = base.sync { [flights[1].value(), flights[2].value()] }
            let submitted = flights[3].value()
            base.sync {}
            #expect(order.value.isEmpty)
            drops.value = dropsThem
            goesOn.signal()
            for (index, value) in (inline + [submitted]).enumerated() {
                let outcome = Result { try value.wait() }
                if dropsThem {
                    #expect(throws: Refusal.self) { try outcome.get() }
                } else {
                    #expect((try? outcome.get()) == index + 1)
                }
            }
            #expect(order.value == (dropsThem ? [] : [1, 2, 3]))
        }
    }

    @Test func `Law 31: no refusal is reported beside a job of the graph`() async {
        await underEverySchedule("a lossy graph") { sim, onlooker in
            let context = sim.faulty(sim.serial(named: "works"), [.loss])
            let graph = WorkGraph(on: context)
            let flights = SingleFlight<Int, Int>(in: graph) { key, flight in
                onlooker.visit("a body")
                flight.onEnd { onlooker.visit("an end") }
                sim.global.execute { flight.succeed(key) }
            }
            for name in ["a", "b", "c"] {
                sim.spawn(name) {
                    let subscription = flights[1].subscribe { _ in
                        onlooker.visit()
                        onlooker.note("\(name) notified")
                    }
                    if name == "c", subscription.cancel() { onlooker.note("c notified") }
                }
                sim.finally("\(name) was notified once") { onlooker.count("\(name) notified") == 1 }
            }
            sim.finally("no work is in flight") { graph.liveCount == 0 }
        }
    }

    /// Drops every job while it is told to.
    private struct Dropping: SerialContext {
        let base: any SerialContext
        let drops: Box<Bool>

        init(_ base: any SerialContext, _ drops: Box<Bool>) {
            (self.base, self.drops) = (base, drops)
        }

        func execute(_ work: @escaping Work) { if !drops.value { base.execute(work) } }

        var isCurrent: Bool? { base.isCurrent }
    }
}
