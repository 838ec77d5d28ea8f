import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Testing

/// The figures of a recorder.
struct RecorderTotalsTests {
    @Test(arguments: [1, 2, 3, 9, 10, 99, 100, 101, 1000])
    func `Percentiles are those of the sorted list`(_ count: Int) {
        let recorder = Recorder()
        let manual = ManualContext()
        let view = manual.observed(by: recorder)
        // Distinct numbers in no particular order.
        let lengths = (0..<count).map { Int64($0 * 7919 % 10_007) }
        for length in lengths {
            view.execute { manual.stall(for: .nanoseconds(length)) }
            manual.runReady()
        }
        let sorted = lengths.sorted()
        func isRight(_ found: Duration, _ percent: Int) -> Bool {
            guard let index = sorted.firstIndex(where: { .nanoseconds($0) == found }) else {
                return false
            }
            // At least this percentage is at most that long, and one fewer would not suffice.
            return (index + 1) * 100 >= count * percent && index * 100 < count * percent
        }
        let runs = recorder.totals[0].runs
        #expect(isRight(runs.p50, 50))
        #expect(isRight(runs.p90, 90))
        #expect(isRight(runs.p99, 99))
        #expect(runs.max == .nanoseconds(sorted.last!))
        #expect(recorder.totals[0].waits.max == .zero)
        #expect(recorder.totals[0].count == count)
    }

    @Test func `The longest hold is that of the job that ran longest`() {
        let recorder = Recorder()
        let manual = ManualContext()
        let view = manual.observed(by: recorder)
        for milliseconds in [2, 9, 4] {
            view.execute { manual.stall(for: .milliseconds(milliseconds)) }
        }
        manual.runReady()
        let totals = recorder.totals[0]
        #expect(totals.longestHold == .milliseconds(9))
        #expect(totals.longest?.job == 2)
        #expect(totals.waits.max == .milliseconds(11))
    }

    @Test func `The greatest depth is the largest number of jobs that waited at a time`() {
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

    @Test func `A job that waited knows the job that ran on the context when it was submitted`() {
        let recorder = Recorder()
        let manual = ManualContext()
        let view = manual.observed(by: recorder)
        view.execute {
            view.execute {}
            view.execute {}
        }
        manual.runReady()
        let jobs = recorder.jobs
        #expect(jobs.map { $0.behind?.job } == [nil, 1, 1])
        // No job ran on it, but earlier jobs were queued.
        for _ in 0..<3 { view.execute {} }
        manual.runReady()
        #expect(recorder.jobs.suffix(3).map { $0.behind?.job } == [nil, 4, 5])
        // A nested job is not behind the outer one.
        let inline = ImmediateContext().named("inline").observed(by: recorder)
        inline.execute { inline.execute {} }
        #expect(recorder.jobs.suffix(2).map(\.behind) == [nil, nil])
    }

    @Test func `An empty recording has no totals`() {
        let recorder = Recorder()
        #expect(recorder.totals.isEmpty)
        #expect(recorder.jobs.isEmpty)
        #expect(recorder.overwritten == 0)
    }
}
