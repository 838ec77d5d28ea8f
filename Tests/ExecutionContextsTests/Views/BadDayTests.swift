import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Very long queues, suspended queues, extreme delays, and bodies that throw.
@Suite(.patient)
struct BadDayTests {
    @Test(arguments: [true, false])
    func `Laws 1, 2: very many queued jobs run, each once and in order`(_ isSerial: Bool) async {
        await offThePool {
            let count = rounds(debug: 50_000, release: 1_000_000)
            let base = GlobalContext()
            let view: any BarrierContext = isSerial ? base.serial() : base.limited(to: 1)
            let mayContinue = DispatchSemaphore(value: 0)
            let done = DispatchSemaphore(value: 0)
            let tally = Sequence()
            view.execute { mayContinue.wait() }
            for index in 0..<count { view.execute { tally.expect(index) } }
            view.executeBarrier { done.signal() }
            mayContinue.signal()
            done.wait()
            #expect(tally.next == count)
            #expect(tally.disorder == 0)
        }
    }

    @Test func `Law 1: jobs for a suspended queue wait, and run once the queue is resumed`()
        async throws
    {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let views: [any ExecutionContext] = [
            queue.context, queue.context.serial(), queue.context.limited(to: 2),
            queue.context.barrier(),
        ]
        let ran = Box(0)
        for view in views { view.execute { ran.withValue { $0 += 1 } } }
        let answers = views.map { view in view.submit { "ran" } }
        let cancelled = queue.context.submit {
            Issue.record("It was cancelled before its queue resumed.")
        }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.get() }
        #expect(ran.value == 0)
        queue.resume()
        for answer in answers { #expect(try await answer.get() == "ran") }
        #expect(ran.value == views.count)
    }

    @Test func `Law 7: negative, zero, huge and endless delays have a defined outcome`() async {
        let context = ManualContext()
        let ran = Box<[String]>([])
        func schedule(_ name: String, _ delay: Duration) -> DelayedWork {
            context.schedule(after: delay) { ran.withValue { $0.append(name) } }
        }
        _ = schedule("negative", .seconds(-5))
        _ = schedule("zero", .zero)
        _ = schedule("most negative", .seconds(Int64.min))
        let huge = schedule("huge", .nanoseconds(Int64.max))
        let overflow = schedule("overflow", .seconds(Int64.max))
        let never = context.schedule(at: .never) { ran.withValue { $0.append("never") } }
        context.advance(by: .zero)
        #expect(ran.value == ["negative", "zero", "most negative"])
        // A hundred years later they still wait, at no cost to the clock.
        context.advance(by: .seconds(100 * 365 * 86_400))
        #expect(ran.value.count == 3)
        for delay in [huge, never, overflow] {
            #expect(delay.isWaiting)
            #expect(delay.cancel())
            #expect(!delay.cancel())
        }
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 1: the error of a throwing body comes through run and submit`() async {
        struct Failure: Error, Equatable { let number: Int }
        let context = GlobalContext().serial()
        await #expect(throws: Failure(number: 1)) {
            try await context.run { throw Failure(number: 1) }
        }
        await #expect(throws: Failure(number: 2)) {
            try await context.submit { throw Failure(number: 2) }.get()
        }
    }
}

/// Checks that numbers come one after the other.
private final class Sequence: @unchecked Sendable {
    // Unchecked: only jobs of one serial context touch it, which the thread sanitizer checks.
    private(set) var next = 0
    private(set) var disorder = 0

    func expect(_ number: Int) {
        if number != next { disorder += 1 }
        next += 1
    }
}
