import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport

/// Random calls of confined values and of works, on a context that drops some of their jobs.
///
/// Whatever it drops: each caller is answered once, each subscriber that stays has one end, no
/// closure of the graph or of the confined value runs beside another one of it, and nothing that a
/// closure captured stays alive.
final class DropPlay: @unchecked Sendable {
    // Unchecked: only `flights` is a variable, and `init` sets it.
    private let base: any SerialContext
    private let elsewhere: any SerialContext
    private let context: any SerialContext
    private let dropper: Dropper
    private let graph: WorkGraph
    private let confined: Confined<Int>
    private var flights: SingleFlight<Int, Int>!
    private let queue: PrioritizedQueue

    private let faults = Box<[String]>([])
    private let live = Box(0)
    private let inGraph = Box(0)
    private let inValue = Box(0)
    private let begun = Box<[Flight<Int>]>([])
    private let asyncs = Box<[(name: String, async: Async<Int>)]>([])
    private let subscribers = Box<[Listener]>([])
    private let iterations = Box<[Iteration]>([])

    // Unchecked: the one thread that has taken it out of the list uses it.
    private struct Iteration: @unchecked Sendable {
        var iterator: WorkEvents<Int>.Iterator
    }

    /// What a subscriber has received.
    private final class Listener: Sendable {
        let name: String
        let ends = Box(0)
        let hasLeft = Box(false)
        let subscription = Box<Subscription?>(nil)
        private let mayMissEnd: Bool
        init(_ name: String, mayMissEnd: Bool) { (self.name, self.mayMissEnd) = (name, mayMissEnd) }
        var isAnswered: Bool {
            let expected = hasLeft.value ? 0 : 1
            return mayMissEnd ? ends.value <= expected : ends.value == expected
        }
    }

    /// What a closure captures.
    private final class Witness: Sendable {
        private let live: Box<Int>
        init(_ live: Box<Int>) {
            self.live = live
            live.withValue { $0 += 1 }
        }
        deinit { live.withValue { $0 -= 1 } }
    }

    init(
        _ way: Dropper.Way, over base: any SerialContext, elsewhere: any SerialContext, seed: UInt64
    ) {
        (self.base, self.elsewhere) = (base, elsewhere)
        dropper = Dropper(way, over: base, seed: seed)
        context = dropper.context
        graph = WorkGraph(on: context)
        confined = Confined(0, to: context)
        queue = PrioritizedQueue(on: context, limit: 2)
        // Unowned is checked. The test owns this for as long as it runs the contexts.
        flights = SingleFlight(name: "drop", in: graph) { [unowned self] key, flight in
            begin(key, flight)
        }
    }

    // MARK: - One at a time

    private func visit(_ place: Box<Int>, _ what: String, _ body: () -> Void = {}) {
        let occupants = place.withValue { count -> Int in
            count += 1
            return count
        }
        if occupants > 1 { fault("\(what) beside another one") }
        body()
        place.withValue { $0 -= 1 }
    }

    private func visitOnContext(_ place: Box<Int>, _ what: String, _ body: () -> Void = {}) {
        if context.isCurrent == false { fault("\(what) runs elsewhere") }
        visit(place, what, body)
    }

    private func fault(_ what: String) { faults.withValue { $0.append(what) } }

    // MARK: - Works

    private func begin(_ key: Int, _ flight: Flight<Int>) {
        let witness = Witness(live)
        let isOver = Box(false)
        visitOnContext(inGraph, "a body") {
            flight.onEnd { [self] in
                withExtendedLifetime(witness) {}
                if isOver.value { fault("two ends of \(key)") }
                isOver.value = true
                visit(inGraph, "onEnd")
            }
            flight.onCancel { [self] in visit(inGraph, "onCancel") }
            flight.onPriority { [self] _ in visit(inGraph, "onPriority") }
            switch key {
            case 2: flight.follow(context.submit { key })
            case 3: flight.follow(flights[0])
            case 4: flight.process(flights[1], on: context) { value, _ in value + 1 }
            case 5: flight.follow(queue.submit { key })
            default: begun.withValue { $0.append(flight) }
            }
        }
    }

    private func endFlight(_ rng: inout SeededRNG) {
        let draw = rng.next(below: 1 << 20)
        let flight = begun.withValue { $0.isEmpty ? nil : $0.remove(at: draw % $0.count) }
        switch draw % 3 {
        case 0: flight?.succeed(draw)
        case 1: flight?.fail(CancellationError())
        // Released.
        default: break
        }
    }

    // MARK: - Steps

    /// One random call; with `nesting`, from a job of the base.
    func step(_ rng: inout SeededRNG, nesting: Bool = true) {
        let key = rng.next(below: 6)
        let witness = Witness(live)
        let (index, kind) = (rng.next(below: 1 << 20), rng.next(below: 16))
        if rng.next(below: 2) == 0 {
            return withDeadline(in: .seconds(rng.next(below: 3)), on: base) {
                call(kind, key, index, witness, &rng, nesting)
            }
        }
        call(kind, key, index, witness, &rng, nesting)
    }

    private func call(
        _ kind: Int, _ key: Int, _ index: Int, _ witness: Witness, _ rng: inout SeededRNG,
        _ nesting: Bool
    ) {
        switch kind {
        case 0:
            confined.perform { [self] state in
                withExtendedLifetime(witness) { visitOnContext(inValue, "perform") { state += 1 } }
            }
        case 1, 2:
            keep(
                "call",
                confined.submit { [self] state in
                    withExtendedLifetime(witness) {
                        visitOnContext(inValue, "submit") { state += 1 }
                    }
                    return state
                })
        case 3, 4: keep("value of \(key)", flights[key].value())
        case 5: subscribe(key, witness, on: nil)
        case 6 where index % 3 == 0: subscribe(key, witness, on: context, mayMissEnd: true)
        case 6: subscribe(key, witness, on: elsewhere)
        case 7:
            let iteration = Iteration(iterator: flights[key].events().makeAsyncIterator())
            iterations.withValue { $0.append(iteration) }
        case 8:
            one(of: subscribers, index)?.subscription.value?.priority =
                index % 2 == 0 ? .low : .high
        case 9:
            let listener = one(of: subscribers, index)
            if listener?.subscription.value?.cancel() == true { listener?.hasLeft.value = true }
        case 10: one(of: asyncs, index)?.async.cancel()
        case 11: endFlight(&rng)
        case 12:
            let flight = one(of: begun, index)
            if index % 2 == 0 { flight?.yield(index) } else { flight?.report(.init(completed: 1)) }
        case 13:
            // It leaves its work.
            let left = iterations.withValue { $0.popLast() }
            withExtendedLifetime(left) {}
        case 14 where nesting:
            let seed = rng.next()
            base.execute { [self] in
                var inner = SeededRNG(seed: seed)
                for _ in 0..<3 { step(&inner, nesting: false) }
            }
        default: _ = dropper.dropKept()
        }
    }

    func spoil() { dropper.spoil() }

    private func keep(_ name: String, _ async: Async<Int>) {
        asyncs.withValue { $0.append((name, async)) }
    }

    private func one<Element>(of list: Box<[Element]>, _ index: Int) -> Element? {
        list.withValue { $0.isEmpty ? nil : $0[index % $0.count] }
    }

    /// - Parameter mayMissEnd: whether the subscriber's own context may drop the end.
    private func subscribe(
        _ key: Int, _ witness: Witness, on own: (any SerialContext)?, mayMissEnd: Bool = false
    ) {
        let listener = Listener("subscriber of \(key)", mayMissEnd: mayMissEnd)
        subscribers.withValue { $0.append(listener) }
        let handler: @Sendable (WorkEvent<Int>) -> Void = { [self] event in
            withExtendedLifetime(witness) {}
            guard event.outcome != nil else { return }
            listener.ends.withValue { $0 += 1 }
            // A call from the handler waits behind it.
            confined.perform { [self] _ in visitOnContext(inValue, "perform") }
        }
        let subscription =
            if let own {
                flights[key].subscribe(on: own, handler)
            } else {
                flights[key].subscribe { [self] event in
                    visit(inGraph, "handler") { handler(event) }
                }
            }
        listener.subscription.value = subscription
    }

    // MARK: - The end

    /// Ends what is in flight, until nothing has happened for some rounds; returns what is wrong.
    ///
    /// - Parameters:
    ///   - patience: How long a thread may be late that no context runs, such as one that answers
    ///     what it has dropped.
    ///   - run: Lets the contexts run; true if they had jobs.
    func finish(
        quietRounds: Int = 2, patience: Duration = .zero, _ run: () -> Bool
    ) async -> [String] {
        // Ends begin others: works that wait for their turn, and calls of handlers.
        var quiet = 0
        while quiet < quietRounds {
            let flights = takeAll(begun)
            for flight in flights { flight.succeed(0) }
            let (hasDropped, hasRun) = (dropper.dropKept(), run())
            let isQuiet = flights.isEmpty && !hasDropped && !hasRun && !dropper.isEnding()
            quiet = isQuiet ? quiet + 1 : 0
        }
        await settle(patience, run) { [self] in
            asyncs.value.allSatisfy { $0.async.outcome != nil }
                && subscribers.value.allSatisfy(\.isAnswered) && graph.liveCount == 0
        }
        for (name, async) in asyncs.value where async.outcome == nil { fault("\(name) hangs") }
        for listener in subscribers.value where !listener.isAnswered {
            fault("\(listener.name) has \(listener.ends.value) ends")
        }
        if graph.liveCount != 0 { fault("\(graph.liveCount) works are in flight") }
        // What hangs would hang this, too.
        if faults.value.isEmpty {
            for var iteration in takeAll(iterations) {
                while await iteration.iterator.next(isolation: nil) != nil {}
            }
        }
        _ = (takeAll(iterations), takeAll(asyncs), takeAll(subscribers))
        await settle(patience, run) { [self] in live.value == 0 }
        if live.value != 0 { fault("\(live.value) captures are alive") }
        return faults.value
    }

    /// Lets the contexts run until a condition holds, or patience ends.
    private func settle(
        _ patience: Duration, _ run: () -> Bool, until condition: () -> Bool
    ) async {
        let start = ContinuousClock.now
        repeat {
            _ = run()
            await Task.yield()
        } while !condition() && start.duration(to: .now) < patience
    }

    private func takeAll<Element>(_ list: Box<[Element]>) -> [Element] {
        list.withValue { list in
            defer { list = [] }
            return list
        }
    }
}
