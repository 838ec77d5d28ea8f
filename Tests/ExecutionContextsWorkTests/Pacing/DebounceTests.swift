import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// A debounce in virtual time.
@Suite(.patient)
struct DebounceTests {
    private let manual = ManualContext()
    private let log = Box<[String]>([])

    /// An action that logs the value and the time in tenths of a second.
    private var note: @Sendable (String) -> Void {
        { [log, manual] value in
            log.withValue { $0.append("\(value) \(manual.now.nanoseconds / 100_000_000)") }
        }
    }

    @Test func `Law 7: the last value is delivered after a quiet interval, once and never early`() {
        let search = manual.debounced(by: .milliseconds(300), note)
        search("w")
        manual.advance(by: .milliseconds(299))
        search("wr")
        manual.advance(by: .milliseconds(299))
        search("wren")
        #expect(search.isPending)
        #expect(log.value.isEmpty)
        #expect(manual.delayedCount == 1)
        manual.advance(by: .nanoseconds(299_999_999))
        #expect(log.value.isEmpty)
        manual.advance(by: .nanoseconds(1))
        #expect(log.value == ["wren 8"])
        #expect(!search.isPending)
        manual.advance(by: .seconds(10))
        #expect(log.value == ["wren 8"])
        #expect(manual.delayedCount == 0)
    }

    @Test func `However often the function is called, at most one delay is pending`() throws {
        let search = manual.debounced(by: .milliseconds(300), note)
        for index in 0..<1000 {
            search("\(index)")
            manual.advance(by: .milliseconds(1))
            #expect(manual.delayedCount + manual.readyCount == 1)
        }
        try manual.runUntilIdle()
        #expect(log.value == ["999 12"])
    }

    @Test func `A call while the delay is overdue restarts the interval`() throws {
        let search = manual.debounced(by: .milliseconds(300), note)
        search("a")
        manual.stall(for: .milliseconds(400))
        search("b")
        manual.runReady()
        #expect(log.value.isEmpty)
        try manual.runUntilIdle()
        #expect(log.value == ["b 7"])
    }

    @Test func `Cancelling releases the value and cancels the delay`() {
        let search = manual.debounced(by: .milliseconds(300)) { (value: Box<Int>) in
            value.value += 1
        }
        weak var value: Box<Int>?
        do {
            let captured = Box(1)
            value = captured
            search(captured)
        }
        #expect(value != nil)
        #expect(search.cancel())
        #expect(value == nil)
        #expect(!search.cancel())
        #expect(manual.delayedCount == 0)
    }

    @Test func `A replaced value is released at once`() {
        let search = manual.debounced(by: .milliseconds(300)) { (value: Box<Int>) in
            value.value += 1
        }
        weak var value: Box<Int>?
        do {
            let captured = Box(1)
            value = captured
            search(captured)
        }
        search(Box(2))
        #expect(value == nil)
    }

    @Test func `Flushing delivers the kept value, and does nothing without one`() {
        let search = manual.debounced(by: .milliseconds(300), note)
        #expect(!search.flush())
        search("a")
        manual.advance(by: .milliseconds(100))
        #expect(search.flush())
        #expect(manual.delayedCount == 0)
        manual.runReady()
        #expect(log.value == ["a 1"])
        search("b")
        manual.advance(by: .seconds(1))
        #expect(log.value == ["a 1", "b 4"])
    }

    @Test func `Law 10: a kept value is delivered after the function was released`() {
        var search: PacedCall<String>? = manual.debounced(by: .milliseconds(300), note)
        search?("a")
        search = nil
        manual.advance(by: .seconds(1))
        #expect(log.value == ["a 3"])
    }

    @Test func `Law 9: the action and the deinit of a dropped value may call the function`() throws
    {
        let own = Box<PacedCall<Lab.DeinitAction>?>(nil)
        let count = Box(0)
        own.value = manual.debounced(by: .milliseconds(100)) { _ in
            let number = count.withValue { count in
                count += 1
                return count
            }
            if number < 3 { own.value?(Lab.DeinitAction {}) }
        }
        own.value?(Lab.DeinitAction { own.value?.flush() })
        own.value?(Lab.DeinitAction { _ = own.value?.isPending })
        try manual.runUntilIdle()
        #expect(count.value == 3)
        own.value = nil
    }

    @Test func `Law 8: the action sees the task-local values of the last caller`() {
        let search = manual.propagating(Locals.$user).debounced(by: .milliseconds(1)) {
            [log] (_: Int) in
            log.withValue { $0.append(Locals.user) }
        }
        Locals.$user.withValue("ann") { search(1) }
        Locals.$user.withValue("ben") { search(2) }
        manual.advance(by: .seconds(1))
        #expect(log.value == ["ben"])
    }

    @Test func `A context that drops the delay drops the value, and the next value is delivered`()
        throws
    {
        let search = manual.debounced(by: .milliseconds(300), note)
        search("lost")
        #expect(throws: ManualFailure.self) { try manual.finish() }
        #expect(!search.isPending)
        search("found")
        try manual.runUntilIdle()
        #expect(log.value == ["found 3"])
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `Law 7: without an interval the action runs in a later job`(_ interval: Duration) {
        let search = manual.debounced(by: interval, note)
        search("a")
        search("b")
        #expect(log.value.isEmpty)
        manual.advance(by: .zero)
        #expect(log.value == ["b 0"])
    }

    @Test(arguments: [0, 1, 2])
    func `Law 33: under every schedule the last value is delivered once, unless it is cancelled`(
        _ kind: Int
    )
        async
    {
        await underEverySchedule("debounce") { sim, _ in
            let seen = Box<[Int]>([])
            let search = sim.serial(named: "screen").debounced(by: .milliseconds(10)) {
                (value: Int) in
                seen.withValue { $0.append(value) }
            }
            sim.spawn("types") { for value in 1...3 { search(value) } }
            sim.spawn("other") {
                if kind == 1 { search.flush() }
                if kind == 2, search.cancel() { seen.withValue { $0.append(0) } }
            }
            sim.finally("in order, and none twice") {
                let values = seen.value.filter { $0 > 0 }
                return values == values.sorted() && Set(values).count == values.count
            }
            sim.finally("the last value is delivered or cancelled") {
                seen.value.contains(3) || seen.value.contains(0)
            }
            sim.finally("nothing is pending") { !search.isPending }
        }
    }

    /// A manual context's time that runs a closure right after a caller has read the clock.
    private final class InterruptedTime: TimeSource {
        let base: any TimeSource
        let interruption = Box<Work?>(nil)
        init(_ base: any TimeSource) { self.base = base }

        var now: ContextInstant {
            let now = base.now
            interruption.withValue { $0.take() }?()
            return now
        }

        var identity: ObjectIdentifier { base.identity }
        func add(_ delay: DelayedWork, tolerance: Duration) {
            base.add(delay, tolerance: tolerance)
        }
        func remove(_ delay: DelayedWork) { base.remove(delay) }
    }

    private struct InterruptedContext: ContextDecorator {
        let base: ManualContext
        let interrupted: InterruptedTime
        var time: any TimeSource { interrupted }
    }

    @Test func `Law 7: a caller that stalls after it has read the clock makes no value early`() {
        let interrupted = InterruptedTime(manual.time)
        let context = InterruptedContext(base: manual, interrupted: interrupted)
        let search = context.debounced(by: .milliseconds(1000), note)
        search("w")
        manual.advance(by: .milliseconds(500))
        interrupted.interruption.value = { [manual] in
            manual.advance(by: .milliseconds(400))
            search("wren")
        }
        search("wr")
        manual.advance(by: .milliseconds(999))
        #expect(log.value.isEmpty)
        manual.advance(by: .milliseconds(1))
        #expect(log.value == ["wr 19"])
    }

    @Test(arguments: [nil, Throttling.latest, .firstAndLatest])
    func `Laws 7, 10: with an endless interval only the function keeps its captures alive`(
        _ throttling: Throttling?
    ) {
        weak let probe: Box<Int>?
        do {
            let kept = Box(0)
            probe = kept
            let context = ImmediateContext()
            let never = Duration.seconds(Int64.max)
            let call =
                throttling.map { context.throttled(to: never, $0) { (_: Int) in kept.value = 1 } }
                ?? context.debounced(by: never) { (_: Int) in kept.value = 1 }
            call(1)
            call(2)
            #expect(call.isPending)
        }
        #expect(probe == nil)
    }

    private enum Locals {
        @TaskLocal static var user = "none"
    }
}
