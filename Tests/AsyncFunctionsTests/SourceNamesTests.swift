import AsyncFunctions
import ExecutionContexts
import TestSupport
import Testing

/// The spellings of the original document on execution contexts for futures.
@Suite(.patient)
struct SourceNamesTests {
    @Test func `Law 25: a context without a label is the context of the callback`() {
        let log = Log()
        Async(.success(1))
            .onComplete(.immediate) { _ in log.add("found") }
            .onComplete(ImmediateExecutionContext) { _ in log.add("named") }
        #expect(log.entries == ["found", "named"])
    }

    @Test func `Law 25: a closure for MainExecutionContext is isolated to the main actor`() async {
        await withCheckedContinuation { done in
            Async(.success(1)).onComplete(MainExecutionContext) { _ in
                MainActor.assertIsolated()
                done.resume()
            }
        }
    }
}
