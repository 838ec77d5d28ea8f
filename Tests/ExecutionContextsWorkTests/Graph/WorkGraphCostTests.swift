import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Large graphs: with a quadratic cost these tests would not end.
@Suite(.patient)
struct WorkGraphCostTests {
    private let context = ManualContext()
    private let many = 20_000

    @Test(arguments: ["first to last", "last to first", "from everywhere"])
    func `Subscribers leave in any order`(order: String) {
        let flight = Box<Flight<Int>?>(nil)
        let work: SharedWork<Int> = WorkGraph(on: context).work(named: "work") { flight.value = $0 }
        let all = (0..<many).map { _ in work.subscribe { _ in } }
        context.runReady()
        for index in 0..<many {
            switch order {
            case "first to last": all[index].cancel()
            case "last to first": all[many - 1 - index].cancel()
            // The stride is coprime to the count, so it visits each index once.
            default: all[index * 7_919 % many].cancel()
            }
            if index % 1_000 == 0 { context.runReady() }
        }
        context.runReady()
        #expect(flight.value?.isCancelled == true)
        #expect(work.graph.liveCount == 0)
    }

    @Test(arguments: [true, false]) func `One work item needs many, which end or are cancelled`(
        end: Bool
    ) {
        let graph = WorkGraph(on: context)
        let flights = Box<[Flight<Int>]>([])
        let leaves = SingleFlight<Int, Int>(name: "leaf", in: graph) { _, flight in
            flights.withValue { $0.append(flight) }
        }
        let top: SharedWork<Int> = graph.work(named: "top") { [many] flight in
            for key in 0..<many { flight.depend(on: leaves[key]) { _ in } }
            flights.withValue { $0.append(flight) }
        }
        let subscription = top.subscribe { _ in }
        context.runReady()
        #expect(graph.liveCount == many + 1)
        subscription.priority = .high
        if end {
            for flight in flights.value.reversed() { flight.succeed(1) }
        } else {
            subscription.cancel()
        }
        context.runReady()
        #expect(graph.liveCount == 0)
    }

    @Test func `Many work items need one that needs many`() {
        let graph = WorkGraph(on: context)
        let flights = Box<[Flight<Int>]>([])
        let width = 10_000
        let leaves = SingleFlight<Int, Int>(name: "leaf", in: graph) { _, flight in
            flights.withValue { $0.append(flight) }
        }
        let hub: SharedWork<Int> = graph.work(named: "hub") { flight in
            for key in 0..<width { flight.depend(on: leaves[key]) { _ in } }
            flights.withValue { $0.append(flight) }
        }
        let tops = SingleFlight<Int, Int>(name: "top", in: graph) { _, flight in flight.follow(hub)
        }
        let first = hub.subscribe { _ in }
        // The hub has all its needs before the others need it.
        context.runReady()
        let subscriptions = (0..<width).map { tops[$0].subscribe { _ in } }
        context.runReady()
        #expect(graph.liveCount == 2 * width + 1)
        for subscription in subscriptions + [first] { subscription.cancel() }
        context.runReady()
        #expect(graph.liveCount == 0)
    }
}
