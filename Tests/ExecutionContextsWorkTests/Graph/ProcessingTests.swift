import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Transforming the values of another work item: partial values are dropped rather than queued.
@Suite(.patient)
struct ProcessingTests {
    private struct Oops: Error {}
    private let time = ManualTime()
    private let context: ManualContext
    private let background: ManualContext
    private let upstream = Box<Flight<Int>?>(nil)
    /// The transformed values, in order.
    private let transformed = Box<[String]>([])
    private let received = Box<[String]>([])
    private let work: SharedWork<String>

    init() {
        context = ManualContext(name: "works", time: time)
        background = ManualContext(name: "background", time: time)
        let graph = WorkGraph(on: context)
        let source: SharedWork<Int> = graph.work(named: "source") { [upstream] flight in
            upstream.value = flight
        }
        work = graph.work(named: "text") { [background, transformed] flight in
            flight.process(source, on: background) { value, isFinal in
                transformed.withValue { $0.append("\(value)\(isFinal ? " at last" : "")") }
                if value < 0 { throw Oops() }
                return "<\(value)>"
            }
        }
    }

    private func begin() -> Subscription {
        let subscription = work.subscribe { [received] event in
            received.withValue {
                switch event {
                case .progress(let progress): $0.append("\(progress.completed)")
                case .partial(let value): $0.append("nearly \(value)")
                case .finished(.success(let value)): $0.append(value)
                case .finished(.failure(let error)): $0.append("\(error)")
                }
            }
        }
        context.runReady()
        return subscription
    }

    private func send(_ values: Int..., last: Int? = nil) {
        for value in values {
            upstream.value!.yield(value)
            context.runReady()
        }
        if let last { upstream.value!.succeed(last) }
        context.runReady()
    }

    @Test func `A partial value that arrives during a transformation is dropped`() {
        _ = begin()
        send(1, 2, 3)
        background.runReady()
        context.runReady()
        send(4)
        background.runReady()
        context.runReady()
        #expect(transformed.value == ["1", "4"])
        #expect(received.value == ["nearly <1>", "nearly <4>"])
    }

    @Test func `The final value cancels a pending transformation`() {
        _ = begin()
        send(1, last: 2)
        background.runReady()
        context.runReady()
        #expect(transformed.value == ["2 at last"])
        #expect(received.value == ["<2>"])
        #expect(work.graph.liveCount == 0)
    }

    @Test func `The result of a transformation that the final value overtakes is discarded`() {
        _ = begin()
        send(1)
        background.runReady()
        // Transformed, but not delivered yet.
        send(last: 2)
        background.runReady()
        context.runReady()
        #expect(transformed.value == ["1", "2 at last"])
        #expect(received.value.last == "<2>")
        #expect(received.value.count { $0 == "<2>" } == 1)
    }

    @Test
    func `A transformation that throws drops a partial value, and fails the work with a final one`()
    {
        _ = begin()
        send(-1)
        background.runReady()
        context.runReady()
        #expect(received.value.isEmpty)
        send(last: -2)
        background.runReady()
        context.runReady()
        #expect(received.value == ["Oops()"])
    }

    @Test func `Progress and failure are forwarded at once`() {
        _ = begin()
        upstream.value!.report(WorkProgress(completed: 5))
        send(1)
        upstream.value!.fail(Oops())
        context.runReady()
        background.runReady()
        context.runReady()
        #expect(received.value == ["5", "Oops()"])
        #expect(transformed.value.isEmpty)
    }

    @Test func `Law 32: leaving cancels the pending transformation and the source`() {
        let subscription = begin()
        send(1)
        subscription.cancel()
        context.runReady()
        background.runReady()
        #expect(transformed.value.isEmpty)
        #expect(upstream.value!.isCancelled)
        #expect(work.graph.liveCount == 0)
    }

    @Test func `Law 32: a queued transformation has the priority of its work`() {
        let queue = PrioritizedQueue(on: background, limit: 0)
        let graph = WorkGraph(on: context)
        let works = SingleFlight<Int, Int>(in: graph) { [transformed] key, flight in
            let value: SharedWork<Int> = graph.work(named: "value") { $0.succeed(key) }
            flight.process(value, on: queue) { value, _ in
                transformed.withValue { $0.append("\(value)") }
                return value
            }
        }
        let subscriptions = (0..<4).map { works[$0].subscribe(priority: .low) { _ in } }
        context.runReady()
        subscriptions[2].priority = .highest
        subscriptions[3].priority = .high
        subscriptions[0].cancel()
        context.runReady()
        #expect(queue.pendingCount == 3)
        queue.limit = 1
        background.runReady()
        #expect(transformed.value == ["2", "3", "1"])
        context.runReady()
        #expect(graph.liveCount == 0)
    }
}
