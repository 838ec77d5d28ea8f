import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Law 32: priorities and cancelling propagate to every need, and no work may need itself.
@Suite(.patient)
struct WorkGraphTests {
    private struct Oops: Error {}
    private let context = ManualContext()
    private let log = Box<[String]>([])

    private func note(_ what: String) { log.withValue { $0.append(what) } }

    /// Returns work items by name, each of which needs those that `needs` lists, and their flights.
    private func works(_ needs: [String: [String]]) -> (
        SingleFlight<String, Int>, Box<[String: Flight<Int>]>
    ) {
        let flights = Box<[String: Flight<Int>]>([:])
        let graph = WorkGraph(on: context)
        let own = Box<SingleFlight<String, Int>?>(nil)
        let works = SingleFlight<String, Int>(name: "work", in: graph) { [log] key, flight in
            log.withValue { $0.append("\(key) begins, \(flight.priority)") }
            flights.withValue { $0[key] = flight }
            flight.onCancel { log.withValue { $0.append("\(key) cancelled") } }
            for need in needs[key] ?? [] {
                flight.depend(on: own.value![need]) { event in
                    if case .failure(let error)? = event.outcome { flight.fail(error) }
                }
            }
        }
        own.value = works
        return (works, flights)
    }

    @Test func `Law 31: two work items that need a third one share it`() throws {
        let graph = WorkGraph(on: context)
        let starts = Box(0)
        let file: SharedWork<Int> = graph.work(named: "file") { [context] flight in
            starts.withValue { $0 += 1 }
            context.execute { flight.succeed(21) }
        }
        let sizes = SingleFlight<Int, Int>(name: "size", in: graph) { key, flight in
            flight.depend(on: file) { event in
                if case .success(let value)? = event.outcome { flight.succeed(value * key) }
            }
        }
        let (once, twice) = (sizes[1].value(), sizes[2].value())
        let both = Async.all([once, twice])
        context.runReady()
        #expect(try both.outcome?.get() == [21, 42])
        #expect(starts.value == 1)
        #expect(graph.liveCount == 0)
    }

    @Test
    func `Law 32: a priority is the highest of all subscribers', all the way down, and can fall`() {
        let (works, flights) = works(["a": ["c"], "b": ["c"], "c": ["d"]])
        let a = works["a"].subscribe(priority: .low) { _ in }
        let b = works["b"].subscribe(priority: .high) { _ in }
        context.runReady()
        #expect(log.value == ["a begins, low", "c begins, low", "d begins, low", "b begins, high"])
        func priorities() -> [WorkPriority] {
            ["a", "b", "c", "d"].map { flights.value[$0]!.priority }
        }
        a.priority = .highest
        context.runReady()
        #expect(priorities() == [.highest, .high, .highest, .highest])
        a.priority = .lowest
        context.runReady()
        #expect(priorities() == [.lowest, .high, .high, .high])
        b.cancel()
        context.runReady()
        #expect(
            ["a", "c", "d"].map { flights.value[$0]!.priority } == [.lowest, .lowest, .lowest])
        a.cancel()
        context.runReady()
        #expect(works.graph.liveCount == 0)
    }

    @Test func `Law 32: of two priorities set in a row the last one counts`() {
        let (works, flights) = works([:])
        let subscription = works["a"].subscribe { _ in }
        context.runReady()
        let seen = Box<[WorkPriority]>([])
        flights.value["a"]!.onPriority { priority in seen.withValue { $0.append(priority) } }
        context.runReady()
        subscription.priority = .highest
        subscription.priority = .low
        #expect(context.readyCount == 1)
        context.runReady()
        #expect(seen.value == [.medium, .low])
        subscription.priority = .low
        context.runReady()
        #expect(seen.value == [.medium, .low])
    }

    @Test func `A priority that is set before the work begins counts from its start`() {
        let (works, _) = works([:])
        works["a"].subscribe { _ in }.priority = .highest
        context.runReady()
        #expect(log.value == ["a begins, highest"])
    }

    @Test func `Law 32: cancelling goes from the top to the leaves, and spares what others need`() {
        let (works, _) = works(["a": ["b", "c"], "b": ["d"], "c": ["d", "e"], "x": ["e"]])
        let a = works["a"].subscribe { _ in }
        let x = works["x"].subscribe { _ in }
        context.runReady()
        log.value = []
        a.cancel()
        a.cancel()
        context.runReady()
        #expect(log.value == ["a cancelled", "b cancelled", "c cancelled", "d cancelled"])
        #expect(works.graph.liveCount == 2)
        x.cancel()
        context.runReady()
        #expect(log.value.suffix(2) == ["x cancelled", "e cancelled"])
        #expect(works.graph.liveCount == 0)
    }

    @Test func `A failure propagates upwards, and ends the work items on its path`() {
        let (works, flights) = works(["a": ["b"], "b": ["c"]])
        let value = works["a"].value()
        context.runReady()
        flights.value["c"]!.fail(Oops())
        context.runReady()
        #expect(throws: Oops.self) { try value.outcome?.get() }
        #expect(works.graph.liveCount == 0)
        #expect(!log.value.contains { $0.hasSuffix("cancelled") })
    }

    @Test func `Work that ends before its need unsubscribes from it`() throws {
        let (works, flights) = works(["a": ["b"]])
        let value = works["a"].value()
        context.runReady()
        flights.value["a"]!.succeed(1)
        context.runReady()
        #expect(try value.outcome?.get() == 1)
        #expect(log.value.last == "b cancelled")
        #expect(works.graph.liveCount == 0)
    }

    @Test
    func `Law 32: work that needs itself fails with the names along the cycle, and holds nothing`()
    {
        let (works, _) = works(["a": ["b"], "b": ["c"], "c": ["a"], "self": ["self"]])
        for (key, path) in [
            ("a", ["work[c]", "work[a]", "work[b]", "work[c]"]),
            ("self", ["work[self]", "work[self]"]),
        ] {
            let value = works[key].value()
            context.runReady()
            #expect(throws: WorkError.cycle(path)) { try value.outcome?.get() }
            #expect(works.graph.liveCount == 0)
        }
        #expect("\(WorkError.cycle(["a", "a"]))".contains("depend on itself (law 32): a -> a."))
    }

    @Test func `Work that is needed along two paths begins once, and is no cycle`() {
        let width = 200
        var needs: [String: [String]] = [:]
        for level in 0..<20 {
            for index in 0..<2 {
                needs["\(level).\(index)"] = ["\(level + 1).0", "\(level + 1).1"]
            }
        }
        needs["top"] = (0..<width).map { _ in "0.0" }
        let (works, _) = works(needs)
        let top = works["top"].subscribe { _ in }
        context.runReady()
        #expect(works.graph.liveCount == 1 + 1 + 2 * 20)
        top.cancel()
        context.runReady()
        #expect(works.graph.liveCount == 0)
    }

    @Test func `A chain of very many work items does not make the stack grow`() {
        let graph = WorkGraph(on: context)
        let own = Box<SingleFlight<Int, Int>?>(nil)
        let last = Box<Flight<Int>?>(nil)
        let length = rounds(debug: 20_000, release: 100_000)
        let chain = SingleFlight<Int, Int>(name: "link", in: graph) { key, flight in
            guard key > 0 else { return last.value = flight }
            flight.follow(own.value![key - 1])
        }
        own.value = chain
        let ends = Box(0)
        let subscription = chain[length].subscribe { _ in ends.withValue { $0 += 1 } }
        context.runReady()
        #expect(graph.liveCount == length + 1)
        subscription.priority = .highest
        context.runReady()
        #expect(last.value?.priority == .highest)
        last.value?.succeed(1)
        context.runReady()
        #expect(ends.value == 1)
        #expect(graph.liveCount == 0)
        let other = chain[length].subscribe { _ in }
        context.runReady()
        other.cancel()
        context.runReady()
        #expect(graph.liveCount == 0)
        #expect(last.value?.isCancelled == true)
        own.value = nil
    }

    @Test func `Depending on work of another graph traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = ManualContext()
            let other: SharedWork<Int> = WorkGraph(on: context).work(named: "other") { _ in }
            let work: SharedWork<Int> = WorkGraph(on: context).work(named: "own") { flight in
                flight.depend(on: other) { _ in }
            }
            work.subscribe { _ in }
            context.runReady()
        }
        try expectTrap(result, "'own' cannot depend on 'other'", "another graph (law 32)")
    }
}
