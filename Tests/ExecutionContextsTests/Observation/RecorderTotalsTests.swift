import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// What a recorder tells in numbers.
struct RecorderTotalsTests {
    @Test(arguments: [1, 2, 3, 9, 10, 99, 100, 101, 1000])
    func `Percentiles are those of the sorted list`(_ count: Int) {
        let recorder = Recorder()
        let manual = ManualContext()
        let view = manual.observed(by: recorder)
        // Each number from 1 to the count once, in an order of no order.
        let lengths = (0..<count).map { Int64($0 * 7919 % 10_007) }
        for length in lengths {
            view.execute { manual.stall(for: .nanoseconds(length)) }
            manual.runReady()
        }
        let sorted = lengths.sorted()
        func isRight(_ found: Duration, _ percent: Int) -> Bool {
            guard let place = sorted.firstIndex(where: { .nanoseconds($0) == found }) else { return false }
            // At least so many of a hundred are no longer, and with one less they would not be.
            return (place + 1) * 100 >= count * percent && place * 100 < count * percent
        }
        let runs = recorder.totals[0].runs
        #expect(isRight(runs.p50, 50))
        #expect(isRight(runs.p90, 90))
        #expect(isRight(runs.p99, 99))
        #expect(runs.max == .nanoseconds(sorted.last!))
        #expect(recorder.totals[0].waits.max == .zero)
        #expect(recorder.totals[0].count == count)
    }

    @Test func `The longest hold is of the piece that ran longest`() {
        let recorder = Recorder()
        let manual = ManualContext()
        let view = manual.observed(by: recorder)
        for milliseconds in [2, 9, 4] {
            view.execute { manual.stall(for: .milliseconds(milliseconds)) }
        }
        manual.runReady()
        let totals = recorder.totals[0]
        #expect(totals.longestHold == .milliseconds(9))
        #expect(totals.longest?.piece == 2)
        #expect(totals.waits.max == .milliseconds(11))
    }

    @Test func `The greatest depth is the most that waited at one time`() {
        let recorder = Recorder()
        let manual = ManualContext()
        let view = manual.observed(by: recorder)
        for _ in 0..<3 { view.execute {} }
        manual.step()
        for _ in 0..<4 { view.execute {} }
        manual.runReady()
        view.execute {}
        #expect(recorder.totals[0].greatestDepth == 6)
        #expect(recorder.totals[0].waiting == 1)
    }

    @Test func `Who held the context when a piece came is known, if the piece waited for it`() {
        let recorder = Recorder()
        let manual = ManualContext()
        let view = manual.observed(by: recorder)
        view.execute {
            view.execute {}
            view.execute {}
        }
        manual.runReady()
        let pieces = recorder.pieces
        #expect(pieces.map { $0.behind?.piece } == [nil, 1, 1])
        // Nobody held it, but others were first.
        for _ in 0..<3 { view.execute {} }
        manual.runReady()
        #expect(recorder.pieces.suffix(3).map { $0.behind?.piece } == [nil, 4, 5])
        // Inside is not behind.
        let inline = ImmediateContext().named("inline").observed(by: recorder)
        inline.execute { inline.execute {} }
        #expect(recorder.pieces.suffix(2).map(\.behind) == [nil, nil])
    }

    @Test func `An empty recording has no totals`() {
        let recorder = Recorder()
        #expect(recorder.totals.isEmpty)
        #expect(recorder.pieces.isEmpty)
        #expect(recorder.overwritten == 0)
    }
}
