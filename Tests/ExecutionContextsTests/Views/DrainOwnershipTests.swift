import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A job's captures are freed before the next job of a serial context runs, however the drain
/// continues.
@Suite(.serialized, .patient)
struct DrainOwnershipTests {
    static let subjects: [Subject] =
        [
            Subject("serial view of global") { GlobalContext().serial() },
            Subject("serial view of a pool") { WorkerPool(width: 2).serial() },
            Subject("serial view of a closure") {
                ClosureContext { DispatchQueue.global().async(execute: $0) }.serial()
            },
            Subject("serial view of a serial view") { GlobalContext().serial().serial() },
            Subject("limited to one") { GlobalContext().limited(to: 1) },
            Subject("limited to one, over a closure") {
                ClosureContext { DispatchQueue.global().async(execute: $0) }.limited(to: 1)
            },
            Subject("actor") { ActorContext(Host()) },
            Subject("writes of a coordinator") { ReadWriteCoordinator().writing },
            Subject("own serial queue") { .serial(named: "serial") },
            Subject("thread") { .thread(named: "own") },
            Subject("run loop thread") { .runLoopThread(named: "loop") },
            Subject("exclusive view of global") { GlobalContext().exclusive(CriticalSection()) },
            Subject("enqueued jobs of a section") { ElsewhereInside() },
            Subject("bounded serial view") {
                GlobalContext().serial().bounded(to: 100_000, overflow: .refuse)
            },
            Subject("dropping serial view") {
                GlobalContext().serial().bounded(to: 100_000, overflow: .dropOldest { _ in })
            },
            Subject("serial view while valid") {
                GlobalContext().serial().valid(while: InvalidationToken())
            },
            Subject("serial view, inline") { GlobalContext().serial().inlineIfCurrent() },
            Subject("a serial queue's context") { DispatchQueue(label: "serial").context },
            Subject("main") { MainContext() },
        ]

    /// A view on which a submission without an answer would trap.
    static let answering = Subject("bounded serial view that waits") {
        GlobalContext().serial().bounded(to: 4, overflow: .wait)
    }

    @Test(arguments: subjects.map { ($0, false) } + (subjects + [answering]).map { ($0, true) })
    func `Laws 2, 10: captures are freed before the next job, on the context, over many batches`(
        _ subject: Subject, answers: Bool
    ) async {
        await watched {
            let context = subject.make().context
            let occupancy = Occupancy()
            let done = DispatchSemaphore(value: 0)
            // Bursts longer than what a drain runs at a time, so that it yields its thread in the
            // middle.
            onThreads(2) { thread in
                var rng = SeededRNG(seed: 7 &+ UInt64(thread))
                for _ in 0..<12 {
                    for _ in 0..<(1 + rng.next(below: 700)) {
                        if answers {
                            context.execute(occupancy.job(), refused: { _ in })
                        } else {
                            context.execute(occupancy.job())
                        }
                    }
                }
            }
            context.execute({ done.signal() }, refused: { _ in })
            done.wait()
            #expect(occupancy.faults == 0)
        }
    }

    @Test
    func `Laws 2, 10: captures of jobs that a base drops are freed beside no job of the view`()
        async
    {
        await watched {
            for isLimited in [false, true] {
                let base = SometimesDropping()
                let context: any ExecutionContext = isLimited ? base.limited(to: 1) : base.serial()
                let occupancy = Occupancy()
                onThreads(3) { _ in
                    for _ in 0..<2000 {
                        context.execute(occupancy.job())
                    }
                }
                base.isSound.value = true
                let done = DispatchSemaphore(value: 0)
                context.execute { done.signal() }
                done.wait()
                #expect(occupancy.faults == 0)
            }
        }
    }

    @Test func `Law 10: captures of an enqueued read are freed inside of the read`() async throws {
        let coordinator = ReadWriteCoordinator()
        let seen = Box<[Bool?]>([])
        func read() -> @Sendable () -> Void {
            let farewell = Farewell { seen.withValue { $0.append(coordinator.reading.isCurrent) } }
            return { withExtendedLifetime(farewell) {} }
        }
        for _ in 0..<20 { coordinator.reading.enqueue(read()) }
        try await coordinator.writeAsync {}
        #expect(seen.value == Array(repeating: true, count: 20))
    }

    @Test func `Law 10: captures of a submitted body are freed before the caller gets the outcome`()
    {
        let context = ManualContext()
        let freed = Box(false)
        let seen = Box<Bool?>(nil)
        func body() -> @Sendable () -> Void {
            let farewell = Farewell { freed.value = true }
            return { withExtendedLifetime(farewell) {} }
        }
        context.submit(body()).onComplete(on: .immediate) { _ in seen.value = freed.value }
        context.runReady()
        #expect(seen.value == true)
    }

    @Test func `Law 10: a trampoline frees a job before it runs the jobs that this job submitted`()
    {
        let freed = Box(false)
        let seen = Box<Bool?>(nil)
        func outermost() -> Work {
            let farewell = Farewell { freed.value = true }
            return {
                withExtendedLifetime(farewell) {}
                TrampolineContext().execute { seen.value = freed.value }
            }
        }
        TrampolineContext().execute(outermost())
        #expect(seen.value == true)
    }
}

/// A section whose jobs do not run on their callers.
private struct ElsewhereInside: ExecutionContext {
    let section = CriticalSection()
    func execute(_ work: consuming @escaping Work) { section.enqueue(consume work) }
}

/// Counts how often two are inside at once: jobs, and deinits of their captures.
private final class Occupancy: Sendable {
    private struct State {
        var inside = 0
        var faults = 0
    }

    private let state = Box(State())

    var faults: Int { state.value.faults }

    /// A job with a capture, to which only the caller has a reference.
    func job() -> Work {
        let capture = Capture(self)
        return { self.visit(capture.spins) }
    }

    func visit(_ spins: Int) {
        state.withValue { state in
            if state.inside > 0 { state.faults += 1 }
            state.inside += 1
        }
        // Long enough for another thread to get in between.
        for _ in 0..<spins { _ = state.value }
        state.withValue { $0.inside -= 1 }
    }
}

/// What a job captures. Its deinit takes a while.
private final class Capture: Sendable {
    let spins = 2
    private let occupancy: Occupancy
    init(_ occupancy: Occupancy) { self.occupancy = occupancy }
    deinit { occupancy.visit(8) }
}

/// A base that drops every third drain.
private final class SometimesDropping: ExecutionContext {
    let isSound = Box(false)
    private let count = Box(0)

    func execute(_ work: @escaping Work) {
        let number = count.withValue { count in
            count += 1
            return count
        }
        if isSound.value || number % 3 != 0 { DispatchQueue.global().async(execute: work) }
    }
}
