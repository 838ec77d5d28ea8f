import AsyncFunctions
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// The functions in virtual time, with several contexts that share one time source.
struct VirtualTimeTests {
    @Test @MainActor
    func `Background and main that share a time source run their jobs in its order`() throws {
        let time = ManualTime()
        let background = ManualContext(name: "background", time: time)
        let main = ManualContext(name: "main", time: time)
        let log = Log()
        try withAsyncFunctions(on: background, main: main) {
            async(delay: 2) {
                log.add("two"); mainThread { log.add("main, two") }
            }
            async(delay: 1) {
                log.add("one"); mainThread(delay: 1) { log.add("main, one later") }
            }
            asyncBarrier { log.add("barrier") }
            time.advance(by: .seconds(2))
            try time.finish()
        }
        #expect(log.entries == ["barrier", "one", "two", "main, one later", "main, two"])
    }

    @Test func `An async body that a context drives uses the substitutes, too`() throws {
        let context = ManualContext()
        let log = Log()
        try withAsyncFunctions(on: context) {
            try context.drive {
                await withCheckedContinuation { done in
                    async(delay: 60) {
                        log.add("an hour, or a minute")
                        done.resume()
                    }
                }
            }
        }
        #expect(context.now == ContextInstant(nanoseconds: 60_000_000_000))
        #expect(log.entries.count == 1)
        try context.finish()
    }
}
