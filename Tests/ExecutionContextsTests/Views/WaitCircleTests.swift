import Dispatch
import ExecutionContexts
import TestSupport
import Testing

/// Threads that wait for each other's contexts (law 27).
@Suite(.patient)
struct WaitCircleTests {
    /// Lets a job of each context wait for the next one, all at the same time.
    private static func close(_ circle: [any SynchronousContext]) {
        let inside = DispatchGroup()
        for _ in circle { inside.enter() }
        onThreads(
            circle.indices.map { index in
                {
                    let next = circle[(index + 1) % circle.count]
                    circle[index].sync {
                        inside.leave()
                        inside.wait()
                        next.sync {}
                    }
                }
            })
    }

    private func expectCircle(_ result: ExitTest.Result?, _ names: String...) throws {
        try expectTrap(result, "These waits would never end", "(law 27)", "waits for '\(names[0])'")
        for name in names { try expectTrap(result, "a job of '\(name)' waits for") }
    }

    @Test func `Law 27: two queues that wait for each other trap`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            Self.close([SerialQueueContext(name: "a"), SerialQueueContext(name: "b")])
        }
        try expectCircle(result, "a", "b")
    }

    @Test func `Law 27: views of a pool and a queue that wait for each other trap`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            Self.close([
                GlobalContext().serial(named: "a"), BarrierQueueContext(name: "b").serial(),
                WorkerPool(name: "pool").serial(named: "c"), SerialQueueContext(name: "d"),
            ])
        }
        try expectCircle(result, "a", "c", "d")
    }

    @Test func `Law 27: jobs that were submitted and wait for each other trap`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let (a, b) = (SerialQueueContext(name: "a"), GlobalContext().serial(named: "b"))
            let inside = DispatchGroup()
            inside.enter()
            inside.enter()
            a.execute {
                inside.leave()
                inside.wait()
                b.sync {}
            }
            b.execute {
                inside.leave()
                inside.wait()
                a.sync {}
            }
            DispatchSemaphore(value: 0).wait()
        }
        try expectCircle(result, "a", "b")
    }

    @Test func `Law 27: the main thread and a job that wait for each other trap`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            await MainActor.run {
                let queue = SerialQueueContext(name: "a")
                let isInside = DispatchSemaphore(value: 0)
                queue.execute {
                    isInside.signal()
                    MainContext().sync {}
                }
                isInside.wait()
                queue.sync {}
            }
        }
        try expectCircle(result, "a", "main")
    }

    @Test func `Law 27: threads that wait for contexts in one order do not trap`() async {
        await watched {
            let contexts: [any SynchronousContext] = [
                SerialQueueContext(name: "a"), GlobalContext().serial(named: "b"),
                BarrierQueueContext(name: "c"), WorkerPool(name: "pool").serial(named: "d"),
            ]
            let count = Box(0)
            let total = rounds(debug: 200, release: 2000)
            onThreads(4) { (thread: Int) in
                var random = SeededRNG(seed: UInt64(thread))
                for _ in 0..<total {
                    // Each thread skips some, and all keep the order.
                    let chosen = contexts.filter { _ in random.next(below: 2) == 0 }
                    Self.nest(chosen[...]) { count.withValue { $0 += 1 } }
                }
            }
            #expect(count.value == 4 * total)
        }
    }

    private static func nest(_ contexts: ArraySlice<any SynchronousContext>, _ body: () -> Void) {
        guard let first = contexts.first else { return body() }
        first.sync { nest(contexts.dropFirst(), body) }
    }
}
