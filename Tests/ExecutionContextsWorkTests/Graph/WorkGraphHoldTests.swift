import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// What a graph releases, for every way in which work ends, and on contexts of every kind.
@Suite(.patient)
struct WorkGraphHoldTests {
    private final class Witness: Sendable {}
    private struct Oops: Error {}

    enum Way: CaseIterable, Sendable { case success, failure, drop, cancel, lower, cycle, byHand }

    @Test(arguments: Way.allCases, [false, true])
    func `Law 10: after every end the graph keeps nothing alive, whatever the user keeps`(
        way: Way, waits: Bool
    ) {
        weak var seen: Witness?
        let (context, background) = (ManualContext(), ManualContext(name: "background"))
        let queue = PrioritizedQueue(on: background, limit: 1)
        var graph: WorkGraph? = WorkGraph(on: context)
        let lower = Box<Flight<Int>?>(nil)
        let upper = Box<[Flight<Int>]>([])
        var kept: [Subscription] = []
        do {
            let witness = Witness()
            seen = witness
            let own = Box<SharedWork<Int>?>(nil)
            let source: SharedWork<Int> = graph!.work(named: "source") { flight in
                flight.onCancel { _ = witness }
                flight.onPriority { _ in _ = witness }
                lower.value = flight
            }
            let middle: SharedWork<Int> = graph!.work(named: "middle") { flight in
                flight.onCancel { _ = (witness, flight) }
                flight.onPriority { _ in _ = (witness, flight) }
                flight.process(source, on: background) { value, _ in
                    _ = witness
                    return value
                }
            }
            let top: SharedWork<Int> = graph!.work(named: "top") { flight in
                flight.process(middle, on: queue) { value, _ in
                    _ = (witness, flight)
                    return value
                }
                if way == .byHand || way == .cycle { upper.withValue { $0.append(flight) } }
            }
            own.value = top
            for target in [nil, context, ManualContext()] {
                if let target {
                    kept.append(top.subscribe(on: target) { _ in _ = witness })
                } else {
                    kept.append(top.subscribe { _ in _ = witness })
                }
                if let target, target !== context { kept.removeLast().cancel() }
            }
            context.runReady()
            lower.value!.yield(1)
            context.runReady()
            if !waits { background.runReady() }
            context.runReady()
            switch way {
            case .success: lower.value!.succeed(2)
            case .failure: lower.value!.fail(Oops())
            case .drop: lower.value = nil
            case .cancel: for one in kept { one.cancel() }
            case .lower: kept.forEach { $0.priority = .lowest }; lower.value!.succeed(3)
            case .cycle: upper.value[0].follow(own.value!)
            case .byHand: upper.value[0].succeed(4)
            }
            own.value = nil
        }
        for _ in 0..<6 {
            context.runReady()
            background.runReady()
        }
        #expect(graph?.liveCount == 0)
        #expect(kept.allSatisfy { !$0.isActive })
        weak let rest = graph
        graph = nil
        if way == .drop || way == .cancel { #expect(lower.value?.isCancelled != false) }
        lower.value = nil
        upper.value = []
        #expect(seen == nil)
        #expect(rest == nil)
    }

    @Test func `Law 10: a graph that is released while work is in flight is freed with the flight`()
    {
        weak var seen: Witness?
        weak var rest: WorkGraph?
        let context = ManualContext()
        let flight = Box<Flight<Int>?>(nil)
        let notified = Box(0)
        do {
            let witness = Witness()
            seen = witness
            let graph = WorkGraph(on: context)
            rest = graph
            let work: SharedWork<Int> = graph.work(named: "work") { flight.value = $0 }
            work.subscribe { event in
                _ = witness
                if event.outcome != nil { notified.withValue { $0 += 1 } }
            }
            context.runReady()
        }
        #expect(seen != nil)
        flight.value = nil
        context.runReady()
        #expect(notified.value == 1)
        #expect(seen == nil)
        #expect(rest == nil)
    }

    @Test(arguments: 0..<5)
    func `Laws 1, 31: contexts that refuse and inline ones deliver every end once`(kind: Int) async
    {
        await offThePool {
            let pool = WorkerPool(name: "refusing", width: 1)
            let context: any SerialContext =
                switch kind {
                case 0: TrampolineContext().serial()
                case 1: ImmediateContext().serial()
                case 2: GlobalContext().serial(named: "bounded").bounded(to: 1, overflow: .refuse)
                case 3: GlobalContext().serial(named: "patient").bounded(to: 1, overflow: .wait)
                default: pool.serial(named: "pool")
                }
            let graph = WorkGraph(on: context)
            let own = Box<SingleFlight<Int, Int>?>(nil)
            let chain = SingleFlight<Int, Int>(name: "link", in: graph) { key, flight in
                if key == 0 {
                    flight.yield(1)
                    GlobalContext().execute { flight.succeed(2) }
                } else {
                    flight.process(own.value![key - 1], on: ImmediateContext()) { value, _ in value
                    }
                }
            }
            own.value = chain
            let ends = Box<[Int]>([])
            let values = Box<[Async<Int>]>([])
            onThreads(4) { (thread: Int) in
                for round in 0..<200 {
                    let promise = Promise<Int>()
                    let subscription = chain[50].subscribe { event in
                        guard event.outcome != nil else { return }
                        ends.withValue { $0.append(1) }
                        promise.succeed(1)
                    }
                    if round % 3 == thread % 3, subscription.cancel() {
                        ends.withValue { $0.append(1) }
                        promise.succeed(0)
                    }
                    values.withValue { $0.append(promise.async) }
                }
            }
            let shutdown = kind == 4 ? pool.shutDown() : nil
            // Each has a value: only a hang throws here, and it ends the process.
            for value in values.value { _ = try! value.wait(timeout: Patience.event) }
            #expect(ends.value.count == 800)
            _ = try? shutdown?.wait(timeout: Patience.event)
            let late = chain[3].value()
            _ = try? late.wait(timeout: Patience.event)
            #expect(late.outcome != nil)
            own.value = nil
        }
    }
}
