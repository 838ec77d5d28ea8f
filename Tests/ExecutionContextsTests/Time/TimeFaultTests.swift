import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// What becomes of delays and repetitions whose context lets go of their work, or never gets to it.
@Suite(.timeLimit(.minutes(30)))
struct TimeFaultTests {
    @Test func `Law 10: a repetition under an invalidated token lets go of its work`() {
        let manual = ManualContext()
        let token = InvalidationToken()
        weak var capture: Box<Int>?
        var repetition: Repetition?
        do {
            let box = Box(0)
            capture = box
            repetition = manual.while(token).repeat(every: .seconds(1)) { box.value += 1 }
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

    @Test func `Law 10: a repetition that will never come again lets go of its work with its owner`() {
        weak var capture: Box<Int>?
        do {
            let box = Box(0)
            capture = box
            _ = ManualContext().repeat(every: .seconds(Int64.max)) { box.value += 1 }
        }
        #expect(capture == nil)
    }

    @Test
    func
        `Law 10: a delay whose context lets go of the work frees its captures, also while its handle is kept`()
    {
        let manual = ManualContext()
        let token = InvalidationToken()
        weak var capture: Box<Int>?
        let delay: DelayedWork
        do {
            let box = Box(0)
            capture = box
            delay = manual.while(token).schedule(after: .seconds(1)) { box.value += 1 }
        }
        token.invalidate()
        manual.advance(by: .seconds(2))
        #expect(capture == nil)
        #expect(!delay.isWaiting)
    }

    @Test func `Delayed work of a context that runs inline runs inside that context`() async {
        let context = ExclusiveContext()
        let isInside = await withCheckedContinuation { continuation in
            context.schedule(after: .zero) { continuation.resume(returning: context.isCurrent == true) }
        }
        #expect(isInside)
    }

    @Test func `Law 7: a tolerance does not make a delay early at the end of time`() {
        let time = SystemTime()
        let context = TimedContext(time: time)
        let deadline = Moment(nanoseconds: .max - 1)
        let delay = context.schedule(at: deadline, tolerance: .seconds(3600)) {}
        #expect(delay.deadline >= deadline)
        #expect(delay.cancel())
    }

    @Test func `Law 9: the clock of a context may end the repetition that asks it`() {
        let time = NoisyTime()
        let context = TimedContext(time: time)
        let repetition = context.repeat(every: .nanoseconds(1)) {}
        time.onAsk.value = { repetition.cancel() }
        time.fireAll()
        #expect(!repetition.cancel())
    }
}

/// Runs its work on the caller, one piece at a time: as a critical section does.
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

/// The immediate context in a time of its own.
private struct TimedContext: ExecutionContext {
    let time: any TimeSource
    func execute(_ work: @escaping Work) { work() }
}

/// A time that does something when asked for the present.
private final class NoisyTime: TimeSource {
    let onAsk = Box<Work?>(nil)
    private let pending = Box<[DelayedWork]>([])

    var now: Moment {
        onAsk.withValue { $0.take() }?()
        return Moment(nanoseconds: 0)
    }

    func add(_ delay: DelayedWork, tolerance: Duration) { pending.withValue { $0.append(delay) } }
    func remove(_ delay: DelayedWork) { pending.withValue { $0.removeAll { $0 === delay } } }

    func fireAll() {
        let due = pending.value
        pending.value = []
        for delay in due { delay.fire() }
    }
}
