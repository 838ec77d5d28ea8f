import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Synchronization
import TestSupport
import Testing

/// Three pipelines over one loader, used by sixteen threads at random.
@Suite(.patient)
struct WorkGraphStressTests {
    /// The outcome of one request.
    private final class Request: Sendable {
        let ends = Atomic(0)
        let hasLeft = Atomic(false)
    }

    @Test
    func `Laws 31, 32: under random use each request receives one end, or none if it has left`()
        async
    {
        await watched {
            let graph = WorkGraph(on: GlobalContext().serial(named: "works"))
            let workers = GlobalContext().limited(to: 2)
            let loads = Atomic(0)
            let loader = SingleFlight<Int, Int>(name: "file", in: graph) { key, flight in
                loads.add(1, ordering: .relaxed)
                workers.execute {
                    flight.yield(key)
                    flight.report(WorkProgress(completed: 1, total: 2))
                    flight.succeed(key * 2)
                }
            }
            let pipelines = (0..<3).map { number in
                SingleFlight<Int, Int>(name: "image \(number)", in: graph) { key, flight in
                    flight.process(loader[key], on: workers) { value, _ in value + number }
                }
            }
            let requests = Box<[Request]>([])
            onThreads(16) { (thread: Int) in
                var rng = SystemRandomNumberGenerator()
                var mine: [(request: Request, subscription: Subscription)] = []
                for _ in 0..<1_000 {
                    switch Int.random(in: 0..<4, using: &rng) {
                    case 0, 1:
                        let (request, key) = (Request(), Int.random(in: 0..<20, using: &rng))
                        let pipeline = Int.random(in: 0..<3, using: &rng)
                        let subscription = pipelines[pipeline][key].subscribe(
                            priority: WorkPriority.allCases.randomElement(using: &rng)!
                        ) { event in
                            guard let outcome = event.outcome else { return }
                            // A subscriber that leaves after the claim may receive no end.
                            request.ends.add(1, ordering: .relaxed)
                            #expect((try? outcome.get()) == key * 2 + pipeline)
                        }
                        mine.append((request, subscription))
                    case 2:
                        guard let one = mine.randomElement(using: &rng) else { continue }
                        if one.subscription.cancel() {
                            one.request.hasLeft.store(true, ordering: .relaxed)
                        }
                    default:
                        mine.randomElement(using: &rng)?.subscription.priority =
                            WorkPriority.allCases.randomElement(using: &rng)!
                    }
                }
                requests.withValue { $0 += mine.map(\.request) }
            }
            // Behind all other requests: on each key the last request ends last.
            let last = pipelines.flatMap { pipeline in (0..<20).map { pipeline[$0].value() } }
            _ = try! Async.all(last).wait()
            // The last jobs may still be pending.
            _ = try! graph.context.submit {}.wait()
            #expect(graph.liveCount == 0)
            for request in requests.value {
                #expect(
                    request.ends.load(ordering: .relaxed)
                        == (request.hasLeft.load(ordering: .relaxed) ? 0 : 1))
            }
            #expect(loads.load(ordering: .relaxed) > 0)
        }
    }

    @Test
    func `Laws 24, 31: of sixteen threads that end or leave work at once one wins, and all agree`()
        async
    {
        await watched {
            for _ in 0..<rounds(debug: 200, release: 2_000) {
                let flight = Box<Flight<Int>?>(nil)
                let graph = WorkGraph(on: GlobalContext().serial(named: "race"))
                let work: SharedWork<Int> = graph.work(named: "race") { flight.value = $0 }
                let received = Box<[Int]>([])
                let subscription = work.subscribe { event in
                    if case .success(let value)? = event.outcome {
                        received.withValue { $0.append(value) }
                    }
                }
                try! graph.context.submit {}.wait()
                let (winners, leavers) = (Box<[Int]>([]), Box(0))
                let running = flight.value!
                flight.value = nil
                onThreads(16) { (thread: Int) in
                    if thread % 2 == 0 {
                        if running.succeed(thread) { winners.withValue { $0.append(thread) } }
                    } else if subscription.cancel() {
                        leavers.withValue { $0 += 1 }
                    }
                }
                try! graph.context.submit {}.wait()
                try! graph.context.submit {}.wait()
                #expect(winners.value.count <= 1)
                #expect(leavers.value <= 1)
                // A subscriber that left receives nothing; one that stayed, the winner's value.
                #expect(received.value == (leavers.value == 1 ? [] : winners.value))
                #expect(winners.value.count + leavers.value >= 1)
                #expect(running.isCancelled == winners.value.isEmpty)
                #expect(graph.liveCount == 0)
            }
        }
    }
}
