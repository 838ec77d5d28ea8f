import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Repetitions that are late, that are cancelled on any thread, or that hardly ever fire.
@Suite(.patient)
struct RepeatPolicyTests {
    /// Returns when a repetition ran on a context that is late once: time passes while a job waits.
    private func beats(_ policy: DriftPolicy) -> [Int] {
        let manual = ManualContext()
        let held = Box<[Work]>([])
        let isHeld = Box(false)
        let log = Box<[Int]>([])
        let context = LateContext(base: manual, isHeld: isHeld, held: held)
        let repetition = context.schedule(every: .seconds(1), policy: policy) {
            log.withValue { $0.append(Int(manual.now.nanoseconds / 100_000_000)) }
        }
        manual.advance(by: .seconds(2))
        isHeld.value = true
        manual.advance(by: .milliseconds(3500))
        isHeld.value = false
        for work in held.withValue({
            let all = $0; $0 = []; return all
        }) { manual.execute(work) }
        manual.advance(by: .milliseconds(2500))
        #expect(repetition.cancel())
        #expect(manual.delayedCount == 0)
        return log.value
    }

    @Test func `A late repetition skips, catches up or starts its period anew, by its policy`() {
        // In tenths of a second; the third run is delayed until 5.5 seconds.
        #expect(beats(.skip) == [10, 20, 55, 60, 70, 80])
        #expect(beats(.catchUp) == [10, 20, 55, 55, 55, 60, 70, 80])
        #expect(beats(.fixedDelay) == [10, 20, 55, 65, 75])
    }

    @Test(arguments: [DriftPolicy.skip, .catchUp, .fixedDelay])
    func `A repetition that its own job cancels does not run again, and releases its captures`(
        _ policy: DriftPolicy
    ) {
        let manual = ManualContext()
        let own = Box<Repetition?>(nil)
        let results = Box<[Bool]>([])
        weak var capture: Box<Int>?
        do {
            let box = Box(0)
            capture = box
            own.value = manual.schedule(every: .seconds(1), policy: policy) {
                box.value += 1
                let repetition = own.value
                results.withValue {
                    $0 += [repetition?.cancel() == true, repetition?.cancel() == true]
                }
            }
        }
        manual.advance(by: .seconds(5))
        #expect(results.value == [true, false])
        #expect(manual.delayedCount == 0)
        #expect(capture == nil)
    }

    @Test func `Huge periods and periods of less than a nanosecond do not trap`() {
        let manual = ManualContext()
        let never = manual.schedule(every: .seconds(Int64.max)) {
            Issue.record("It must never run.")
        }
        let late = Box(0)
        let rare = manual.schedule(every: .nanoseconds(Int64.max / 2 + 1), policy: .skip) {
            late.value += 1
        }
        let tiny = Box(0)
        let often = manual.schedule(every: Duration(secondsComponent: 0, attosecondsComponent: 1)) {
            tiny.value += 1
        }
        manual.advance(by: .nanoseconds(10))
        #expect(tiny.value == 10)
        #expect(often.cancel())
        manual.advance(to: .never)
        #expect(late.value == 1)
        #expect(never.cancel())
        #expect(rare.cancel())
        #expect(manual.delayedCount == 0)
    }

    @Test func `Law 7: one of many callers cancels a repetition, and then it runs no more`() async {
        let context = GlobalContext().serial()
        for _ in 0..<50 {
            let count = Box(0)
            let repetition = context.schedule(every: .microseconds(20), policy: .catchUp) {
                count.value += 1
            }
            let wins = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<3 { group.addTask { repetition.cancel() } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(wins == 1)
            // The view runs this job after a run of the repetition that is under way.
            let after = try? await context.run { count.value }
            try? await context.run {}
            #expect(count.value == after)
        }
    }
}

/// Holds back its jobs while `isHeld` is true.
private struct LateContext: ContextDecorator {
    let base: ManualContext
    let isHeld: Box<Bool>
    let held: Box<[Work]>

    func enqueue(_ work: @escaping Work) {
        isHeld.value ? held.withValue { $0.append(work) } : base.execute(work)
    }
}
