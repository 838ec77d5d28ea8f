import AsyncFunctions
import ExecutionContexts
import Foundation
import Testing

@Suite("The free functions")
struct AsyncFunctionsTests {
    @Test("async runs its closure, also from inside another")
    func asynchronous() async {
        await withCheckedContinuation { done in
            async { async { done.resume() } }
        }
    }

    @Test("asyncBarrier runs after what was submitted before it and before what was submitted after (law 3)")
    func barrier() async {
        let log = Log()
        for _ in 0..<50 { async { log.add("before") } }
        asyncBarrier { log.add("barrier") }
        for _ in 0..<50 { async { log.add("after") } }
        await withCheckedContinuation { done in asyncBarrier { done.resume() } }
        let entries = log.entries
        #expect(entries.count == 101)
        #expect(entries[50] == "barrier")
        #expect(entries[..<50].allSatisfy { $0 == "before" })
    }

    @Test("a delay is a minimum, in seconds and as a duration (law 7)")
    func delays() async {
        let clock = ContinuousClock()
        let start = clock.now
        await withCheckedContinuation { done in async(delay: 0.01) { done.resume() } }
        #expect(clock.now - start >= .milliseconds(10))
        await withCheckedContinuation { done in async(delay: .milliseconds(10)) { done.resume() } }
        #expect(clock.now - start >= .milliseconds(20))
    }

    @Test("a delayed closure that is cancelled never runs (law 7)")
    func cancel() {
        #expect(async(delay: 3_600) { Issue.record("It was cancelled.") }.cancel())
        #expect(mainThread(delay: .seconds(3_600)) { Issue.record("It was cancelled.") }.cancel())
        #expect(async(delay: .infinity) { Issue.record("It never comes.") }.cancel())
    }

    @Test("mainThread takes closures of the main actor and runs them on the main queue (law 4)")
    func main() async {
        await withCheckedContinuation { done in
            mainThread {
                MainActor.preconditionIsolated()
                Screen.isHidden = true
                done.resume()
            }
        }
        await withCheckedContinuation { done in
            mainThread(delay: 0.001) {
                #expect(Screen.isHidden)
                done.resume()
            }
        }
    }
}

@MainActor private enum Screen {
    static var isHidden = false
}

private final class Log: Sendable {
    private let lock = Lock<[String]>([])
    var entries: [String] { lock.withLock { $0 } }
    func add(_ entry: String) { lock.withLock { $0.append(entry) } }
}

/// Not `Synchronization.Mutex`, which the thread sanitizer does not understand on this platform.
private final class Lock<Value>: @unchecked Sendable {
    // Unchecked: `value` is reached only under `lock`.
    private let lock = NSLock()
    private var value: Value
    init(_ value: Value) { self.value = value }
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}
