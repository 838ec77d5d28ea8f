import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A completion handler that receives the outcome of an `Async`.
@Suite(.patient)
struct CallbackCompletionTests {
    @Test func `A completion handler gets the value or the error once, on its context`() {
        let manual = ManualContext()
        let log = Box<[String]>([])
        let completion: @Sendable (Result<Int, any Error>) -> Void = { outcome in
            manual.preconditionIsCurrent()
            log.withValue { $0.append("\(outcome)") }
        }
        let (good, bad) = (Promise<Int>(), Promise<Int>())
        good.async.onComplete(on: manual, completion)
        let stored: any ExecutionContext = manual
        bad.async.onComplete(on: stored, completion)
        #expect(manual.readyCount == 0)
        good.succeed(1)
        bad.fail(Broken.here)
        #expect(log.value.isEmpty)
        manual.runReady()
        #expect(log.value == ["success(1)", "failure(\(String(reflecting: Broken.here)))"])
        Async(.success(2)).onComplete(on: manual, completion)
        manual.runReady()
        #expect(log.value.last == "success(2)")
    }

    @Test func `Law 25: a completion handler is called in order with the other callbacks`() {
        let log = Box<[Int]>([])
        let promise = Promise<Int>()
        promise.async
            .onComplete { _ in log.withValue { $0.append(1) } }
            .onComplete { _ in log.withValue { $0.append(2) } }
            .onSuccess { _ in log.withValue { $0.append(3) } }
        promise.succeed(0)
        #expect(log.value == [1, 2, 3])
    }

    @Test func `A completion handler of the main actor is called on the main queue`() async {
        let screen = Screen()
        await withCheckedContinuation { continuation in
            Task { @MainActor in screen.load(then: { continuation.resume() }) }
        }
        #expect(await screen.text == "a")
    }

    @Test func `An outcome survives the way through a completion handler and back`() async {
        let files = Files(error: .here)
        @Sendable func load(completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
            Async.fromCallback { done in files.pair("a", completion: done) }
                .recover { _ in "b" }
                .onComplete(on: .global, completion)
        }
        let text = try? await Async.fromCallback { done in load(completion: done) }.get()
        #expect(text == "b")
    }

    @Test func `Law 10: a completion handler is released once it was called`() {
        let isFreed = Box(false)
        let promise = Promise<Int>()
        let capture = Box<(@Sendable () -> Void)?>(capturing(isFreed))
        promise.async.onComplete { [capture = capture.withValue { $0.take() }] _ in capture?() }
        #expect(!isFreed.value)
        promise.succeed(1)
        #expect(isFreed.value)
    }

    @MainActor
    private final class Screen {
        var text = ""

        func load(then finish: @escaping @MainActor @Sendable () -> Void) {
            GlobalContext().submit { "a" }.onComplete(on: .main) { outcome in
                self.text = (try? outcome.get()) ?? "nothing"
                finish()
            }
        }
    }
}
