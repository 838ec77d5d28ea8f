import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Delays and repetitions whose context drops their jobs or never runs them.
@Suite(.patient)
struct TimeFaultTests {
    @Test func `Law 10: a repetition under an invalidated token releases its job`() {
        let manual = ManualContext()
        let token = InvalidationToken()
        weak var capture: Box<Int>?
        var repetition: Repetition?
        do {
            let box = Box(0)
            capture = box
            repetition = manual.valid(while: token).schedule(every: .seconds(1)) { box.value += 1 }
        }
        manual.advance(by: .seconds(2))
        #expect(capture?.value == 2)
        token.invalidate()
        manual.advance(by: .seconds(2))
        #expect(manual.delayedCount == 0)
        repetition = nil
        #expect(capture == nil)
        _ = repetition
    }

    @Test func `Law 10: a repetition that will never run releases its job with its last handle`() {
        weak var capture: Box<Int>?
        do {
            let box = Box(0)
            capture = box
            _ = ManualContext().schedule(every: .seconds(Int64.max)) { box.value += 1 }
        }
        #expect(capture == nil)
    }

    @Test
    func `Law 10: a delay whose context drops the job releases its captures before its handle`() {
        let manual = ManualContext()
        let token = InvalidationToken()
        weak var capture: Box<Int>?
        let delay: DelayedWork
        do {
            let box = Box(0)
            capture = box
            delay = manual.valid(while: token).schedule(after: .seconds(1)) { box.value += 1 }
        }
        token.invalidate()
        manual.advance(by: .seconds(2))
        #expect(capture == nil)
        #expect(!delay.isWaiting)
    }

    @Test func `A delayed job of a context that runs inline runs inside that context`() async {
        let context = ExclusiveContext()
        let isInside = await withCheckedContinuation { continuation in
            context.schedule(after: .zero) {
                continuation.resume(returning: context.isCurrent == true)
            }
        }
        #expect(isInside)
    }

    @Test func `Law 7: a tolerance does not make a delay early at the end of time`() {
        let time = SystemTime()
        let context = TimedContext(time: time)
        let deadline = ContextInstant(nanoseconds: .max - 1)
        let delay = context.schedule(at: deadline, tolerance: .seconds(3600)) {}
        #expect(delay.deadline >= deadline)
        #expect(delay.cancel())
    }

    @Test func `Law 9: the clock of a context may cancel the repetition that reads it`() {
        let time = CallingTime()
        let context = TimedContext(time: time)
        let repetition = context.schedule(every: .nanoseconds(1)) {}
        time.onRead.value = { repetition.cancel() }
        time.fireAll()
        #expect(!repetition.cancel())
    }
}

/// Runs jobs on the caller, one at a time, like a critical section.
private final class ExclusiveContext: ExecutionContext {
    private let lock = NSRecursiveLock()
    private let inside = Box(false)

    var isCurrent: Bool? { inside.value }

    func execute(_ work: @escaping Work) {
        lock.lock()
        defer { lock.unlock() }
        inside.value = true
        work()
        inside.value = false
    }
}

/// An immediate context with a given time source.
private struct TimedContext: ExecutionContext {
    let time: any TimeSource
    func execute(_ work: @escaping Work) { work() }
}

/// A time source that calls a closure when `now` is read.
private final class CallingTime: TimeSource {
    let onRead = Box<Work?>(nil)
    private let pending = Box<[DelayedWork]>([])

    var now: ContextInstant {
        onRead.withValue { $0.take() }?()
        return ContextInstant(nanoseconds: 0)
    }

    func add(_ delay: DelayedWork, tolerance: Duration) { pending.withValue { $0.append(delay) } }
    func remove(_ delay: DelayedWork) { pending.withValue { $0.removeAll { $0 === delay } } }

    func fireAll() {
        let due = pending.value
        pending.value = []
        for delay in due { delay.fire() }
    }
}
