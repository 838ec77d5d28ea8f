import Dispatch
import ExecutionContexts
import TestSupport
import Testing

/// Threads that wait deep inside callbacks, where notifications are deferred (laws 25 and 27).
@Suite(.patient)
struct AsyncDeepWaitTests {
    /// Calls `body` inside `depth` nested callbacks. Notifications nest 32 deep.
    private static func nest(_ depth: Int, _ body: @escaping @Sendable () -> Void) {
        guard depth > 0 else { return body() }
        Async(.success(1)).onComplete { _ in nest(depth - 1, body) }
    }

    @Test(arguments: [31, 32, 33, 100])
    func `Law 27: a thread that waits deep inside callbacks gets the value`(_ depth: Int) async {
        await watched {
            let queue = DispatchQueue(label: "completes")
            for round in 0..<rounds(debug: 300, release: 3000) {
                let promise = Promise<Int>()
                let value = Box<Int?>(nil)
                Self.nest(depth) {
                    queue.async { promise.succeed(round) }
                    value.value = try? promise.async.map { $0 }.wait()
                }
                #expect(value.value == round)
            }
        }
    }

    @Test(arguments: [31, 32, 33, 100])
    func `Law 25: a notification that is deferred while a deferred callback waits is delivered`(
        _ depth: Int
    ) async {
        await watched {
            let (first, second, third) = (Promise<Int>(), Promise<Int>(), Promise<Int>())
            let log = Box<[String]>([])
            third.async.onComplete { _ in log.withValue { $0.append("third") } }
            first.async.onComplete { _ in
                log.withValue { $0.append("first") }
                DispatchQueue.global().async {
                    waitUntil { second.async.waitingThreads == 1 }
                    second.succeed(2)
                }
                _ = try? second.async.wait()
                third.succeed(3)
            }
            Self.nest(depth) { first.succeed(1) }
            #expect(log.value == ["first", "third"])
        }
    }

    @Test func `Law 27: a deeply nested callback may wait for a notification that it has deferred`()
        async
    {
        await watched {
            let value = Box<Int?>(nil)
            Self.nest(40) {
                let promise = Promise<Int>()
                let mapped = promise.async.map { $0 + 1 }
                promise.succeed(1)
                value.value = try? mapped.wait()
            }
            #expect(value.value == 2)
        }
    }
}
