import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// What work items report of each other and of themselves within one job, and across graphs.
@Suite(.patient)
struct WorkGraphJobTests {
    private let context = ManualContext()

    @Test func `Work that begins, needs another item and ends within one job takes one submission`()
        throws
    {
        let graph = WorkGraph(on: context)
        let leaves = SingleFlight<Int, Int>(name: "leaf", in: graph) { key, flight in
            flight.onPriority { _ in }
            flight.report(WorkProgress(completed: 1))
            flight.succeed(key)
        }
        let works = SingleFlight<Int, Int>(name: "work", in: graph) { key, flight in
            flight.onCancel {}
            flight.follow(leaves[key])
        }
        let values = (0..<10).map { works[$0].value() }
        #expect(context.readyCount == 10)
        #expect(context.step())
        #expect(try values[0].outcome?.get() == 0)
        #expect(context.readyCount == 9)
        #expect(context.runReady() == 9)
        #expect(values.map { try? $0.outcome?.get() } == Array(0..<10))
        #expect(graph.liveCount == 0)
    }

    @Test func `An earlier report from outside is delivered before the reports of a job`() {
        let graph = WorkGraph(on: context)
        let flights = Box<[Int: Flight<Int>]>([:])
        let works = SingleFlight<Int, Int>(name: "work", in: graph) { key, flight in
            flights.withValue { $0[key] = flight }
            if key == 2 { flights.value[1]!.succeed(3) }
        }
        let seen = Box<[Int]>([])
        works[1].subscribe { event in
            switch event {
            case .partial(let value), .finished(.success(let value)):
                seen.withValue { $0.append(value) }
            default: break
            }
        }
        context.runReady()
        works[2].subscribe { _ in }
        flights.value[1]!.yield(1)
        context.runReady()
        #expect(seen.value == [1, 3])
        flights.value[2]!.succeed(0)
        context.runReady()
        #expect(graph.liveCount == 0)
    }

    @Test(arguments: [true, false])
    func `Law 32: work of another graph that is followed gets the priority and the cancelling`(
        isShared: Bool
    )
        throws
    {
        let other = isShared ? context : ManualContext()
        func runAll() { while context.runReady() + other.runReady() > 0 {} }
        let (lower, upper) = (WorkGraph(on: other), WorkGraph(on: context))
        let log = Box<[String]>([])
        let flight = Box<Flight<Int>?>(nil)
        let file: SharedWork<Int> = lower.work(named: "file") { own in
            own.onPriority { priority in log.withValue { $0.append("\(priority)") } }
            own.onCancel { log.withValue { $0.append("cancelled") } }
            flight.value = own
        }
        let copy: SharedWork<Int> = upper.work(named: "copy") { $0.follow(file) }
        let first = copy.subscribe(priority: .low) { event in
            if let outcome = event.outcome { log.withValue { $0.append("\(outcome)") } }
        }
        runAll()
        first.priority = .high
        runAll()
        first.cancel()
        runAll()
        #expect(log.value == ["low", "high", "cancelled"])
        #expect(lower.liveCount + upper.liveCount == 0)

        let again = copy.value()
        runAll()
        flight.value!.succeed(7)
        runAll()
        #expect(try again.outcome?.get() == 7)
        #expect(lower.liveCount + upper.liveCount == 0)
    }

    @Test func `Setting an unchanged priority takes no submission`() {
        let graph = WorkGraph(on: context)
        let work: SharedWork<Int> = graph.work(named: "work") { $0.onCancel {} }
        let subscription = work.subscribe(priority: .low) { _ in }
        subscription.priority = .low
        #expect(context.readyCount == 1)
        subscription.priority = .high
        subscription.priority = .high
        #expect(context.readyCount == 2)
    }

    @Test
    func `Law 32: queued work that is followed gets the work's priority and is cancelled with it`()
        throws
    {
        let queue = PrioritizedQueue(on: context, limit: 0)
        let queued = Box<QueuedWork<Int>?>(nil)
        let work: SharedWork<Int> = WorkGraph(on: context).work(named: "work") { flight in
            let work = queue.submit { 7 }
            queued.value = work
            flight.follow(work)
        }
        let subscription = work.subscribe(priority: .low) { _ in }
        context.runReady()
        #expect(queued.value!.priority == .low)
        subscription.priority = .highest
        context.runReady()
        #expect(queued.value!.priority == .highest)
        subscription.cancel()
        context.runReady()
        #expect(queue.pendingCount == 0)
        let again = work.value()
        context.runReady()
        queue.limit = 1
        context.runReady()
        #expect(try again.outcome?.get() == 7)
    }

    @Test
    func `On one context the end of another graph's work is handled inline, before queued jobs`()
        throws
    {
        let flight = Box<Flight<Int>?>(nil)
        let file: SharedWork<Int> = WorkGraph(on: context).work(named: "file") { flight.value = $0 }
        let upper = WorkGraph(on: context)
        let copies = SingleFlight<Int, Int>(name: "copy", in: upper) { _, flight in
            flight.follow(file)
        }
        let first = copies[1].value()
        context.runReady()
        context.execute { flight.value!.succeed(7) }
        // Queued behind that job.
        let second = copies[2].value()
        #expect(context.step())
        #expect(try first.outcome?.get() == 7)
        #expect(context.readyCount == 1)
        context.runReady()
        flight.value!.succeed(8)
        context.runReady()
        #expect(try second.outcome?.get() == 8)
        #expect(upper.liveCount == 0)
    }

    @Test func `Laws 6, 31: a graph's job that runs inline has what the context adds to its jobs`()
    {
        let manual = ManualContext()
        let section = CriticalSection()
        let inside = Box<[Bool?]>([])
        let flights = SingleFlight<String, Int>(name: "size", on: manual.exclusive(section)) {
            path, flight in
            inside.withValue { $0.append(section.isCurrent) }
            flight.succeed(path.count)
        }
        // A job of the base, which the view does not know.
        manual.execute {
            let subscription = flights["wren"].subscribe { _ in
                inside.withValue { $0.append(section.isCurrent) }
            }
            subscription.priority = .high
        }
        manual.runReady()
        #expect(inside.value == [true, true])
    }
}
