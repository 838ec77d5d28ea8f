import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork

/// One random play of a work graph, and of its model.
struct WorkGraphPlay {
    let context = ManualContext()
    let graph: WorkGraph
    private let works: SingleFlight<Int, Int>
    private let flights = Box<[Int: Flight<Int>]>([:])
    private let received = Box<[Int: String]>([:])
    private let stopped = Box<Set<Int>>([])
    private var rng: SeededRNG
    private var model = WorkGraphModel()
    private var subscriptions: [Int: Subscription] = [:]
    private var values: [Int: Async<Int>] = [:]
    private var promises: [Int: Promise<Int>] = [:]
    private var next = 0
    private static let keys = 8

    init(seed: UInt64) {
        rng = SeededRNG(seed: seed << 32)
        graph = WorkGraph(on: context)
        works = SingleFlight(name: "work", in: graph) { [flights] key, flight in
            flights.withValue { $0[key] = flight }
        }
    }

    private mutating func number() -> Int {
        next += 1
        return next
    }

    private mutating func anyPriority() -> WorkPriority {
        WorkPriority(rawValue: rng.next(below: 5))!
    }

    /// Performs one random action on both, and returns its description.
    mutating func step() -> String {
        let what = act(on: rng.next(below: Self.keys))
        context.runReady()
        // Forgets the flights of ended work. Work that began anew has stored its new flight.
        flights.withValue { flights in
            for key in flights.keys where model.flights[key] == nil { flights[key] = nil }
        }
        return what
    }

    private mutating func act(on key: Int) -> String {
        let flight = flights.value[key]
        switch rng.next(below: 13) {
        case 0...2:
            let (id, priority) = (number(), anyPriority())
            subscriptions[id] = works[key].subscribe(priority: priority) { [received] event in
                if let outcome = event.outcome {
                    received.withValue { $0[id, default: ""] += Self.text(outcome) }
                }
            }
            model.subscribe(id, to: key, priority)
            return "\(id) subscribes to \(key)"
        case 3:
            // With a time limit of its own, in the context's time.
            let id = number()
            let limit = Duration.seconds(1 + rng.next(below: 5))
            values[id] = works[key].value(priority: .low).timeout(after: limit, on: context)
            values[id]!.onComplete { [received] outcome in
                received.withValue { $0[id, default: ""] += Self.text(outcome) }
            }
            model.subscribe(id, to: key, .low)
            model.limit(id, to: limit)
            return "\(id) asks for the value of \(key) for \(limit)"
        case 4:
            guard let id = subscriptions.keys.sorted().randomElement(&rng) else { return "nothing" }
            agree(subscriptions[id]!.cancel() == model.leave(id))
            return "\(id) leaves"
        case 5, 6:
            guard let id = subscriptions.keys.sorted().randomElement(&rng) else { return "nothing" }
            let priority = anyPriority()
            subscriptions[id]!.priority = priority
            model.set(priority, of: id)
            return "\(id) is \(priority)"
        case 7, 8:
            let (other, id) = (rng.next(below: Self.keys), number())
            guard let flight else { return "nothing" }
            let follows = rng.next(below: 2) == 0
            if follows {
                flight.follow(works[other])
            } else {
                flight.depend(on: works[other]) { _ in }
            }
            model.need(id, of: key, other, follows: follows)
            return "\(key) needs \(other)"
        case 9:
            guard let flight else { return "nothing" }
            let (id, promise) = (number(), Promise<Int>())
            promise.onCancel { [stopped] in stopped.withValue { _ = $0.insert(id) } }
            promises[id] = promise
            flight.follow(promise.async)
            model.follow(id, by: key)
            return "\(key) follows promise \(id)"
        case 10:
            guard let id = promises.keys.sorted().randomElement(&rng) else { return "nothing" }
            promises[id]!.succeed(id)
            model.complete(promise: id, "v\(id)")
            return "promise \(id) completes"
        case 11:
            guard let flight else { return "nothing" }
            let id = number()
            if rng.next(below: 3) == 0 {
                flights.withValue { $0[key] = nil }
                // Something else may keep the flight, such as an `Async` that it follows.
                if model.isKept(key) {
                    flights.withValue { $0[key] = flight }
                } else {
                    model.end(key, "dropped")
                }
            } else {
                flight.succeed(id)
                model.end(key, "v\(id)")
            }
            return "\(key) ends"
        default:
            let time = Duration.seconds(rng.next(below: 3))
            context.advance(by: time)
            model.advance(by: time)
            return "\(time) pass"
        }
    }

    /// Disagreements that show during a step.
    private var faults = Box<[String]>([])

    private func agree(_ agrees: Bool) { if !agrees { faults.withValue { $0.append("cancel") } } }

    private static func text(_ outcome: Result<Int, any Error>) -> String {
        switch outcome {
        case .success(let value): "v\(value)"
        case .failure(WorkError.cycle): "cycle"
        case .failure(WorkError.dropped): "dropped"
        case .failure(is AsyncError): "late"
        case .failure(is CancellationError): "cancelled"
        case .failure(let error): "\(error)"
        }
    }

    /// Where the graph differs from the model.
    var differences: [String] {
        var wrong = faults.value
        if graph.liveCount != model.flights.count {
            wrong.append("\(graph.liveCount) are in flight, not \(model.flights.count)")
        }
        for (key, flight) in flights.value {
            guard let expected = model.flights[key] else { continue }
            if flight.priority != expected.priority {
                wrong.append("\(key) is \(flight.priority), not \(expected.priority)")
            }
        }
        let (actual, expected) = (received.value, model.received)
        for id in Set(actual.keys).union(expected.keys).sorted() where actual[id] != expected[id] {
            wrong.append(
                "\(id) received \(actual[id] ?? "nothing"), not \(expected[id] ?? "nothing")")
        }
        if stopped.value != model.stopped {
            wrong.append("stopped \(stopped.value), not \(model.stopped)")
        }
        return wrong
    }

    /// Unsubscribes every subscriber.
    mutating func finish() {
        for subscription in subscriptions.values { subscription.cancel() }
        for value in values.values { value.cancel() }
        context.runReady()
        flights.value = [:]
        context.runReady()
    }
}

extension Array {
    /// An element that the RNG draws; nil if there is none.
    fileprivate func randomElement(_ rng: inout SeededRNG) -> Element? {
        isEmpty ? nil : self[rng.next(below: count)]
    }
}
