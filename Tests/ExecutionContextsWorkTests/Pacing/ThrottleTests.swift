import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// A throttle in virtual time.
@Suite(.patient)
struct ThrottleTests {
    private let manual = ManualContext()
    private let log = Box<[String]>([])

    /// An action that logs the value and the time in tenths of a second.
    private var note: @Sendable (Int) -> Void {
        { [log, manual] value in
            log.withValue { $0.append("\(value) \(manual.now.nanoseconds / 100_000_000)") }
        }
    }

    @Test(arguments: [
        (Throttling.first, ["0 0", "4 4", "8 8"]),
        // The fifth call opens a window as the first one's ends.
        (.latest, ["3 4", "7 8", "8 12"]),
        (.firstAndLatest, ["0 0", "3 4", "7 8", "8 12"]),
    ])
    func `Law 7: a window delivers the chosen values, and never early`(
        _ choice: Throttling, _ expected: [String]
    ) throws {
        let throttled = manual.throttled(to: .milliseconds(400), choice, note)
        for index in 0..<9 {
            manual.advance(to: ContextInstant(nanoseconds: Int64(index) * 100_000_000))
            throttled(index)
            #expect(manual.delayedCount <= 1)
        }
        try manual.runUntilIdle()
        #expect(log.value == expected)
        #expect(!throttled.isPending)
    }

    @Test(arguments: Throttling.allCases)
    func `Any two actions are a whole interval apart, and the last value is not lost`(
        _ choice: Throttling
    )
        throws
    {
        var rng = SeededRNG(seed: 7)
        let starts = Box<[(value: Int, moment: Int64)]>([])
        let throttled = manual.throttled(to: .milliseconds(400), choice) { [manual] (value: Int) in
            starts.withValue { $0.append((value, manual.now.nanoseconds)) }
        }
        for index in 0..<500 {
            manual.advance(by: .milliseconds(rng.next(below: 200)))
            if rng.next(below: 20) == 0 { manual.stall(for: .milliseconds(rng.next(below: 600))) }
            throttled(index)
        }
        try manual.runUntilIdle()
        let times = starts.value.map(\.moment)
        #expect(times.count > 50)
        for (earlier, later) in zip(times, times.dropFirst()) {
            #expect(later - earlier >= 400_000_000)
        }
        if choice != .first { #expect(starts.value.last?.value == 499) }
        #expect(starts.value.map(\.value) == starts.value.map(\.value).sorted())
    }

    @Test func `The first value is delivered at once, and later ones of its window are freed`() {
        let throttled = manual.throttled(to: .seconds(1), .first) { (value: Box<Int>) in
            value.value += 1
        }
        let first = Box(0)
        throttled(first)
        weak var second: Box<Int>?
        do {
            let captured = Box(0)
            second = captured
            throttled(captured)
        }
        #expect(second == nil)
        #expect(manual.delayedCount == 0)
        manual.runReady()
        #expect(first.value == 1)
    }

    @Test(arguments: [Throttling.latest, .firstAndLatest])
    func `Cancelling drops the value and the delay, and the window continues`(_ choice: Throttling)
        throws
    {
        let throttled = manual.throttled(to: .seconds(1), choice, note)
        throttled(1)
        throttled(2)
        #expect(throttled.isPending)
        #expect(throttled.cancel())
        #expect(!throttled.cancel())
        #expect(manual.delayedCount == 0)
        manual.advance(by: .milliseconds(500))
        throttled(3)
        try manual.runUntilIdle()
        #expect(log.value == (choice == .latest ? ["3 10"] : ["1 0", "3 10"]))
    }

    @Test func `Flushing delivers the kept value, and opens a window`() throws {
        let throttled = manual.throttled(to: .seconds(1), .latest, note)
        throttled(1)
        manual.advance(by: .milliseconds(300))
        #expect(throttled.flush())
        #expect(!throttled.flush())
        throttled(2)
        try manual.runUntilIdle()
        #expect(log.value == ["1 3", "2 13"])
    }

    @Test func `Law 10: a kept value is delivered after the function was released`() {
        var throttled: PacedCall<Int>? = manual.throttled(to: .seconds(1), .latest, note)
        throttled?(1)
        throttled = nil
        manual.advance(by: .seconds(2))
        #expect(log.value == ["1 10"])
    }

    @Test func `Law 33: under every schedule the last value is delivered, and no value twice`()
        async
    {
        await underEverySchedule("throttle") { sim, _ in
            let seen = Box<[Int]>([])
            let throttled = sim.serial(named: "screen").throttled(
                to: .milliseconds(10), .firstAndLatest
            ) {
                (value: Int) in
                seen.withValue { $0.append(value) }
            }
            sim.spawn("a") { for value in 1...3 { throttled(value) } }
            sim.spawn("b") { throttled.flush() }
            sim.finally("in order, none twice, and the last") {
                seen.value == seen.value.sorted() && Set(seen.value).count == seen.value.count
                    && seen.value.last == 3
            }
        }
    }
}
