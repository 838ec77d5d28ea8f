import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Testing

/// What one work makes of another one's values: partial values are dropped rather than queued.
@Suite(.timeLimit(.minutes(30)))
struct ProcessingTests {
    private struct Oops: Error {}
    private let time = ManualTime()
    private let context: ManualContext
    private let background: ManualContext
    private let upstream = Box<Flight<Int>?>(nil)
    /// What has been transformed, in order.
    private let made = Box<[String]>([])
    private let told = Box<[String]>([])
    private let work: SharedWork<String>

    init() {
        context = ManualContext(name: "works", time: time)
        background = ManualContext(name: "background", time: time)
        let graph = WorkGraph(on: context)
        let source: SharedWork<Int> = graph.work("source") { [upstream] flight in upstream.value = flight }
        work = graph.work("text") { [background, made] flight in
            flight.process(source, on: background) { value, isFinal in
                made.withValue { $0.append("\(value)\(isFinal ? " at last" : "")") }
                if value < 0 { throw Oops() }
                return "<\(value)>"
            }
        }
    }

    private func begin() -> Subscription {
        let subscription = work.subscribe { [told] event in
            told.withValue {
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

    @Test func `Partial values that come while one is made are dropped`() {
        _ = begin()
        send(1, 2, 3)
        background.runReady()
        context.runReady()
        send(4)
        background.runReady()
        context.runReady()
        #expect(made.value == ["1", "4"])
        #expect(told.value == ["nearly <1>", "nearly <4>"])
    }

    @Test func `The last value cancels a partial one that has not begun`() {
        _ = begin()
        send(1, last: 2)
        background.runReady()
        context.runReady()
        #expect(made.value == ["2 at last"])
        #expect(told.value == ["<2>"])
        #expect(work.graph.liveCount == 0)
    }

    @Test func `What was being made when the last value came is dropped`() {
        _ = begin()
        send(1)
        background.runReady()
        // Made, but not told yet.
        send(last: 2)
        background.runReady()
        context.runReady()
        #expect(made.value == ["1", "2 at last"])
        #expect(told.value.last == "<2>")
        #expect(told.value.count { $0 == "<2>" } == 1)
    }

    @Test func `A partial value that cannot be made is dropped, a last one is the failure`() {
        _ = begin()
        send(-1)
        background.runReady()
        context.runReady()
        #expect(told.value.isEmpty)
        send(last: -2)
        background.runReady()
        context.runReady()
        #expect(told.value == ["Oops()"])
    }

    @Test func `Progress and failure are passed on at once`() {
        _ = begin()
        upstream.value!.report(WorkProgress(completed: 5))
        send(1)
        upstream.value!.fail(Oops())
        context.runReady()
        background.runReady()
        context.runReady()
        #expect(told.value == ["5", "Oops()"])
        #expect(made.value.isEmpty)
    }

    @Test func `Law 32: who leaves cancels what has not begun, and what it was made of`() {
        let subscription = begin()
        send(1)
        subscription.cancel()
        context.runReady()
        background.runReady()
        #expect(made.value.isEmpty)
        #expect(upstream.value!.isCancelled)
        #expect(work.graph.liveCount == 0)
    }

    @Test func `Law 32: what waits in a queue is as urgent as the work that it is for`() {
        let queue = PrioritizedQueue(on: background, limit: 0)
        let graph = WorkGraph(on: context)
        let works = SingleFlight<Int, Int>(in: graph) { [made] key, flight in
            let value: SharedWork<Int> = graph.work("value") { $0.succeed(key) }
            flight.process(value, on: queue) { value, _ in
                made.withValue { $0.append("\(value)") }
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
        #expect(made.value == ["2", "3", "1"])
        context.runReady()
        #expect(graph.liveCount == 0)
    }
}
