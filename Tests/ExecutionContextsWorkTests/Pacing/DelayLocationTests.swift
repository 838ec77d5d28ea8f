import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// A delay that the library sets for a caller is reported with the caller's source location.
struct DelayLocationTests {
    /// Each way to make the library set a delay. The returned object keeps the delay pending.
    private static let ways: [(name: String, set: @Sendable (ManualContext) -> Any)] = [
        ("schedule", { $0.schedule(after: .seconds(1)) {} }),
        ("repeat", { $0.schedule(every: .seconds(1)) {} }),
        (
            "timeout",
            { context in
                let promise = Promise<Int>()
                return (promise, promise.async.timeout(after: .seconds(1), on: context))
            }
        ),
        ("delay", { Async<Int>(error: CancellationError()).delay(.seconds(1), on: $0) }),
        (
            "retry",
            { context in
                let async = Async<Int>.retry(
                    attempts: 2, backoff: .constant(.seconds(1)), on: context
                ) { _ in
                    Async(error: Refusal(.shutDown, by: "test"))
                }
                context.runReady()
                return async
            }
        ),
        (
            "debounced",
            { context in
                let call = context.debounced(by: .seconds(1)) { (_: Int) in }
                call(1)
                return call
            }
        ),
        (
            "throttled",
            { context in
                let call = context.throttled(to: .seconds(1), .latest) { (_: Int) in }
                call(1)
                return call
            }
        ),
        (
            "rate limiter",
            { context in
                let limiter = RateLimiter(on: context, rate: 1)
                for _ in 0..<2 { limiter.execute {} }
                context.runReady()
                return limiter
            }
        ),
        (
            "watched",
            { context in
                let view = context.watched(limit: .seconds(1)) { _ in }
                view.execute {}
                return view
            }
        ),
    ]

    @Test(arguments: ways.indices)
    func `A delay that is pending at the end of a test is reported with a line of the test`(
        _ way: Int
    ) throws {
        let context = ManualContext()
        let kept = Self.ways[way].set(context)
        let failure = #expect(throws: ManualFailure.self) { try context.finish() }
        let text = try #require(failure).description
        withExtendedLifetime(kept) {}
        #expect(text.contains("a delay"), "\(Self.ways[way].name): \(text)")
        // The failure's source location mentions this file once, and the delay's once more.
        let mentions =
            text.split(separator: "DelayLocationTests.swift", omittingEmptySubsequences: false)
            .count - 1
        #expect(mentions >= 2, "\(Self.ways[way].name): \(text)")
        #expect(
            !text.contains("ExecutionContexts/") && !text.contains("ExecutionContextsWork/"),
            "\(text)")
    }
}
