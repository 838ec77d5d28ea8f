import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

@testable import ExecutionContextsObservation

/// The names and labels of a recorder, of which a program may have endlessly many.
struct RecorderNamesTests {
    /// Reports three events of a context of that name.
    private static func report(_ name: String, to recorder: Recorder) {
        ImmediateContext().named(name).observed(by: recorder).execute {}
    }

    @Test func `A name is as good as the first, however many have gone before it`() {
        for capacity in [10, 2_000] {
            let recorder = Recorder(capacity: capacity)
            for number in 0..<10_000 { Self.report("name \(number)", to: recorder) }
            let kept = recorder.events.map(\.context)
            let all = (0..<10_000).flatMap { number in (0..<3).map { _ in "name \(number)" } }
            #expect(kept == all.suffix(capacity))
            // Names of which nothing is kept are gone.
            #expect(recorder.totals.count == Set(kept).count)
        }
    }

    @Test func `A label is as good as the first, however many have gone before it`() {
        let recorder = Recorder(capacity: 2_000)
        let view = ImmediateContext().observed(by: recorder)
        for number in 0..<10_000 { view.labeled("label \(number)").execute {} }
        // The submission of the first kept job may have been overwritten.
        let labels = recorder.jobs.dropFirst().map { $0.label ?? "none" }
        #expect(labels == (0..<10_000).suffix(labels.count).map { "label \($0)" })
    }

    /// One view has one name, and one name one view: each name here is that of one view.
    private struct Pairs {
        var names: [UInt64: String] = [:]
        var views: [String: UInt64] = [:]
        var faults: [String] = []

        mutating func check(_ name: String, _ view: UInt64) {
            if name == "(others)" { return }
            let (known, other) = (names[view] ?? name, views[name] ?? view)
            (names[view], views[name]) = (name, view)
            if known != name || other != view { faults.append("\(view): \(known), \(name)") }
        }
    }

    /// Threads whose contexts come and go. Some contexts stay, and report now and then.
    @Test(arguments: 0..<rounds(debug: 6, release: 20))
    func `No event shows under the name of another context, whatever comes and goes`(seed: Int)
        async
    {
        await offThePool {
            // Fewer names than the events have, so that numbers change hands all the time.
            let recorder = Recorder(capacity: 1_500, mostNames: [150, 400, 4_000][seed % 3])
            let pairs = Box(Pairs())
            let left = Box(4)
            let report: @Sendable (Int) -> Void = { thread in
                var random = SeededRNG(seed: UInt64(10 * seed + thread))
                func view(_ name: String) -> any ExecutionContext {
                    ImmediateContext().named(name).observed(by: recorder)
                }
                // More of them than a thread keeps the lanes of.
                let staying = (0..<20).map { view("\(thread) stays \($0)") }
                for number in 0..<2_500 {
                    let fresh = view("\(thread) comes \(number)")
                    for _ in 0...random.next(below: 2) { fresh.execute {} }
                    guard random.next(below: 10) == 0 else { continue }
                    staying[random.next(below: 20)].execute { fresh.with(.labeled("x")).execute {} }
                }
                left.withValue { $0 -= 1 }
            }
            let read: @Sendable () -> Void = {
                var cursor = RecorderCursor()
                var random = SeededRNG(seed: UInt64(seed))
                while left.value > 0 {
                    let batch = recorder.next(&cursor, limit: 1 + random.next(below: 2_000))
                    let events = recorder.events
                    pairs.withValue { pairs in
                        for entry in batch.entries {
                            pairs.check(batch.lanes[Int(entry.lane)].name, entry.job.view)
                        }
                        for event in events { pairs.check(event.context, event.job.view) }
                    }
                    if random.next(below: 200) == 0 { recorder.clear() }
                }
            }
            onThreads((0..<4).map { thread in { @Sendable in report(thread) } } + [read])
            // However few events the reader got: these are all there.
            report(4)
            for event in recorder.events {
                pairs.withValue { $0.check(event.context, event.job.view) }
            }
            #expect(pairs.value.faults.prefix(3) == [])
            // The ring has 1,500 events, and a context that comes has at most nine.
            #expect(pairs.value.views.count > 100)
        }
    }
}
