import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

@testable import ExecutionContextsObservation

/// The recording of several threads, each of which has a buffer, against models.
struct RecorderBufferTests {
    /// An event without its instant and thread.
    private struct Fact: Equatable {
        let kind: RecordedEvent.Kind
        let context: String
        let job: UInt64
    }

    /// What a recorder must keep, for reports one after the other.
    private struct Model {
        let capacity: Int
        var facts: [Fact] = []
        var jobs = [UInt64](repeating: 0, count: 4)
        var isPaused = false

        var kept: ArraySlice<Fact> { facts.suffix(capacity) }

        mutating func begin(_ view: Int) -> UInt64? {
            guard !isPaused else { return nil }
            jobs[view] += 1
            note([.enqueued, .started], view, jobs[view])
            return jobs[view]
        }

        mutating func note(_ kinds: [RecordedEvent.Kind], _ view: Int, _ job: UInt64) {
            facts += kinds.map { Fact(kind: $0, context: "view \(view)", job: job) }
        }
    }

    /// Threads that take turns, in an order that a seed chooses. They report, read and change a
    /// recorder.
    private final class Turns: Sendable {
        let recorder: Recorder
        let views: [any ExecutionContext]
        let manual = ManualContext(name: "view 3")
        let model: Box<Model>
        let cursor = Box(RecorderCursor())
        let read = Box<[Fact]>([])
        let random: Box<SeededRNG>
        let turns = (0..<4).map { _ in DispatchSemaphore(value: 0) }
        let left = Box(300)

        init(seed: Int) {
            var random = SeededRNG(seed: UInt64(seed))
            let capacity = 1000 + random.next(below: 300)
            self.random = Box(random)
            recorder = Recorder(capacity: capacity)
            model = Box(Model(capacity: capacity))
            let plain = ImmediateContext()
            let bases: [any ExecutionContext] = [
                plain.named("view 0"), plain.named("view 1"), plain.named("view 2").labeled("x"),
                manual,
            ]
            views = bases.map { [recorder] in $0.with(.observed(by: recorder)) }
        }

        func choose(_ count: Int) -> Int { random.withValue { $0.next(below: count) } }

        func run(_ thread: Int) {
            while true {
                turns[thread].wait()
                guard
                    left.withValue({
                        $0 -= 1; return $0 >= 0
                    })
                else { break }
                step()
                turns[choose(4)].signal()
            }
            for turn in turns { turn.signal() }
        }

        private func step() {
            switch choose(12) {
            case 0:
                read(
                    recorder.events.map {
                        Fact(kind: $0.kind, context: $0.context, job: $0.job.job)
                    })
            case 1: follow()
            case 2 where choose(4) == 0:
                recorder.clear()
                model.withValue { $0.facts = [] }
            case 3:
                let pauses = choose(3) == 0
                pauses ? recorder.pause() : recorder.resume()
                model.withValue { $0.isPaused = pauses }
            default: for _ in 0..<(1 + choose(40)) { submit(choose(4), depth: 0) }
            }
        }

        private func submit(_ view: Int, depth: Int) {
            let job = Box<UInt64?>(nil)
            // A job of virtual time runs later, and is not nested: its submitter runs all of them.
            let isVirtual = view == 3
            if isVirtual && depth > 0 { return }
            views[view].execute { [self] in
                job.value = model.withValue { $0.begin(view) }
                if depth < 2 && choose(3) == 0 { submit(choose(3), depth: depth + 1) }
            }
            if isVirtual { manual.runReady() }
            if let job = job.value { model.withValue { $0.note([.finished], view, job) } }
        }

        private func read(_ facts: [Fact]) {
            let model = model.value
            #expect(facts == Array(model.kept))
            #expect(recorder.overwritten == model.facts.count - model.kept.count)
        }

        /// What a cursor has read is what has been reported, but for what was overwritten.
        private func follow() {
            while true {
                let batch = cursor.withValue { recorder.next(&$0, limit: 1 + choose(400)) }
                read.withValue { read in
                    if batch.isFirst {
                        read = Array(model.value.facts.dropLast(model.value.kept.count))
                    }
                    let skipped = read.count..<(read.count + batch.missed)
                    read += model.value.facts[skipped]
                    read += batch.entries.map {
                        Fact(
                            kind: $0.kind, context: batch.lanes[Int($0.lane)].name, job: $0.job.job)
                    }
                }
                if batch.isLast { break }
            }
            #expect(read.value == model.value.facts)
        }
    }

    @Test(arguments: 0..<rounds(debug: 6, release: 20))
    func `Threads that take turns record like one thread, also across buffers`(seed: Int) async {
        await offThePool {
            let turns = Turns(seed: seed)
            turns.turns[0].signal()
            let bodies = (0..<4).map { thread in { @Sendable in turns.run(thread) } }
            onThreads(bodies)
        }
    }

    /// The order of a recording that grows, checked entry by entry.
    private struct Order {
        var states: [ObservedWork.Identity: RecordedEvent.Kind] = [:]
        var running: ObservedWork.Identity?
        var faults = 0

        mutating func check(_ entry: RecorderEntry, isSerial: Bool) {
            let state = states.updateValue(entry.kind, forKey: entry.job)
            switch entry.kind {
            case .enqueued:
                if state != nil { faults += 1 }
                if let submitter = entry.submitter, states[submitter] != .started { faults += 1 }
            case .started:
                if state != .enqueued { faults += 1 }
                if isSerial {
                    if running != nil { faults += 1 }
                    running = entry.job
                }
            case .finished, .abandoned:
                if state != .started { faults += 1 }
                if isSerial { running = nil }
            }
        }
    }

    @Test(arguments: 0..<6)
    func `A recording that is read while it grows has causes before effects`(seed: Int) async {
        await offThePool {
            let recorder = Recorder(capacity: 200_000)
            let serial = GlobalContext().serial(named: "serial")
            let ordered = serial.observed(by: recorder)
            let shared = ImmediateContext().named("shared").observed(by: recorder)
            let left = Box(4)
            let report: @Sendable (Int) -> Void = { thread in
                var random = SeededRNG(seed: UInt64(4 * seed + thread))
                for _ in 0..<700 {
                    switch random.next(below: 3) {
                    case 0: shared.execute {}
                    case 1: shared.execute { ordered.execute { shared.execute {} } }
                    default: ordered.execute {}
                    }
                }
                left.withValue { $0 -= 1 }
            }
            let read = Box<[RecorderEntry]>([])
            let reader: @Sendable () -> Void = {
                var cursor = RecorderCursor()
                var order = Order()
                var isOver = false
                while !isOver {
                    isOver = left.value == 0
                    // All jobs have ended then, since this one runs behind them.
                    if isOver { serial.sync {} }
                    var isLast = false
                    while !isLast {
                        let batch = recorder.next(&cursor)
                        for entry in batch.entries {
                            order.check(
                                entry, isSerial: batch.lanes[Int(entry.lane)].name == "serial")
                        }
                        read.withValue { $0 += batch.entries }
                        isLast = batch.isLast
                    }
                }
                #expect(order.faults == 0)
                #expect(order.states.values.allSatisfy { $0 == .finished })
            }
            let reporters = (0..<4).map { thread in { @Sendable in report(thread) } }
            onThreads(reporters + [reader])
            #expect(read.value == recorder.snapshot.entries)
            // While a test simulates, no thread has a number, and all of them take the lock.
            for thread in Set(read.value.map(\.thread)) where thread > 0 {
                let moments = read.value.filter { $0.thread == thread }.map(\.moment)
                #expect(moments == moments.sorted())
            }
            let instants = recorder.events.map(\.instant)
            #expect(instants == instants.sorted())
        }
    }

    @Test(arguments: 0..<6)
    func `A recorder with buffers can be read, paused and cleared while threads report`(seed: Int)
        async
    {
        await offThePool {
            let recorder = Recorder(capacity: 2000)
            let report: @Sendable () -> Void = {
                // Further views, whose lanes are noted anew.
                for number in 0..<40 {
                    let view = ImmediateContext().named("view \(number % 7)").observed(by: recorder)
                    for _ in 0..<40 { view.execute {} }
                }
            }
            let change: @Sendable () -> Void = {
                var random = SeededRNG(seed: UInt64(seed))
                for _ in 0..<200 {
                    switch random.next(below: 4) {
                    case 0: recorder.clear()
                    case 1: recorder.pause()
                    default: recorder.resume()
                    }
                    let snapshot = recorder.snapshot
                    #expect(snapshot.entries.count <= 2000)
                    #expect(snapshot.entries.allSatisfy { Int($0.lane) < snapshot.lanes.count })
                    var states: [ObservedWork.Identity: RecordedEvent.Kind] = [:]
                    for entry in snapshot.entries {
                        let state = states.updateValue(entry.kind, forKey: entry.job)
                        #expect((state?.rawValue ?? 0) <= entry.kind.rawValue)
                    }
                }
            }
            onThreads([report, report, report, change])
            recorder.resume()
            recorder.clear()
            report()
            #expect(recorder.events.count == 2000)
            #expect(recorder.overwritten == 40 * 40 * 3 - 2000)
        }
    }

    /// While a thread is simulated, every event takes the lock, and may be overtaken there.
    @Test func `Events of several threads are in the order of their instants beside a simulation`()
        async
    {
        let recorder = Recorder(capacity: 100_000)
        await offThePool {
            let left = Box(4)
            let report = { @Sendable in
                let view = ImmediateContext().named("view").observed(by: recorder)
                for _ in 0..<2_000 { view.execute {} }
                left.withValue { $0 -= 1 }
            }
            let simulate = { @Sendable in
                while left.value > 0 {
                    _ = search("beside", schedules: 10) { sim in sim.spawn("one") { sim.step() } }
                }
            }
            onThreads([simulate] + Array(repeating: report, count: 4))
        }
        let instants = recorder.events.map(\.instant)
        #expect(instants.count == 24_000)
        #expect(instants == instants.sorted())
    }
}
