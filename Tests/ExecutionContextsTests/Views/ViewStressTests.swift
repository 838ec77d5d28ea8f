import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Many threads on one view, and a checker of laws 1, 2 and 3.
@Suite(.patient)
struct ViewStressTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let limit: Int
        let make: @Sendable () -> any BarrierContext
    }

    static let cases: [Case] = [
        Case(testDescription: "limited to 3", limit: 3) { GlobalContext().limited(to: 3) },
        Case(testDescription: "limited to 1", limit: 1) { GlobalContext().limited(to: 1) },
        Case(testDescription: "barrier view", limit: .max) { GlobalContext().barrier() },
        Case(testDescription: "barrier queue", limit: .max) { BarrierQueueContext(name: "q") },
        Case(testDescription: "bounded barrier queue", limit: .max) {
            BarrierQueueContext(name: "q").bounded(to: 100_000, overflow: .refuse)
        },
        Case(testDescription: "bounded limited view", limit: 3) {
            GlobalContext().limited(to: 3).bounded(to: 100_000, overflow: .refuse)
        },
        Case(testDescription: "limited view of a limited view", limit: 2) {
            GlobalContext().limited(to: 3).limited(to: 2)
        },
        Case(testDescription: "serial view of immediate", limit: 1) { ImmediateContext().serial() },
        Case(testDescription: "serial view of trampoline", limit: 1) {
            TrampolineContext().serial()
        },
        Case(testDescription: "serial view of a limited view", limit: 1) {
            GlobalContext().limited(to: 3).serial()
        },
        Case(testDescription: "blocking, serial", limit: 1) { BlockingContext(limit: 3).serial() },
        Case(testDescription: "inline serial view", limit: 1) {
            GlobalContext().serial().inlineIfCurrent()
        },
    ]

    @Test(arguments: cases)
    func
        `Laws 1, 2, 3: from many threads, all jobs run, limits hold, and barriers run alone and in order`(
            _ example: Case
        ) async
    {
        let context = example.make()
        let checker = Box(Checker(limit: example.limit, submitters: 4))
        await withCheckedContinuation { continuation in
            // Each submitter's last job is a barrier, so it runs after that submitter's others.
            let left = Box(4)
            for submitter in 0..<4 {
                // Threads of their own: an inline context runs all jobs on any of them.
                DispatchQueue(label: "submitter").async {
                    for index in 0..<1500 {
                        let isBarrier = index % 17 == 16 || index == 1499
                        let work: Work = {
                            checker.withValue { $0.start(submitter, index, isBarrier) }
                            checker.withValue { $0.end(submitter, index, isBarrier) }
                            if index == 1499,
                                left.withValue({
                                    $0 -= 1; return $0 == 0
                                })
                            {
                                continuation.resume()
                            }
                        }
                        isBarrier ? context.executeBarrier(work) : context.execute(work)
                    }
                }
            }
        }
        checker.withValue { checker in
            #expect(checker.faults == [])
            #expect(checker.ended == [1500, 1500, 1500, 1500])
        }
    }

    @Test func `Law 5: a hundred thousand queued jobs run in order, over inline and other bases`() {
        let manual = ManualContext()
        for context in [manual.serial(), ImmediateContext().serial(), TrampolineContext().serial()]
            as [any SerialContext]
        {
            let last = Box(-1)
            let disorder = Box(0)
            context.execute {
                for index in 0..<100_000 {
                    context.execute {
                        if last.value != index - 1 { disorder.value += 1 }
                        last.value = index
                    }
                }
            }
            manual.runReady()
            #expect(last.value == 99_999)
            #expect(disorder.value == 0)
        }
    }

    @Test func `Law 2: nested syncs across views from several threads run one at a time`() async {
        let outer = GlobalContext().serial(named: "outer")
        let inner = GlobalContext().serial(named: "inner")
        nonisolated(unsafe) var count = 0  // Guarded by `inner`.
        await withCheckedContinuation { continuation in
            let left = Box(4)
            for _ in 0..<4 {
                // This blocks, so it must not run on the pool.
                DispatchQueue(label: "caller").async {
                    for _ in 0..<300 {
                        outer.sync {
                            inner.sync { outer.sync { inner.sync { unsafe count += 1 } } }
                        }
                    }
                    if left.withValue({
                        $0 -= 1; return $0 == 0
                    }) {
                        continuation.resume()
                    }
                }
            }
        }
        let result = inner.sync { unsafe count }
        #expect(result == 1200)
    }

    @Test
    func `Law 4: a view is current in a nested sync that another view runs on another thread`()
        async
    {
        let outer = GlobalContext().serial(named: "outer")
        let inner = BlockingContext(limit: 1).serial(named: "inner")
        let answers = await withCheckedContinuation { continuation in
            outer.execute {
                let within = inner.sync { [outer.isCurrent, inner.isCurrent] }
                continuation.resume(returning: within + [outer.isCurrent, inner.isCurrent])
            }
        }
        #expect(answers == [true, true, true, false])
    }

    @Test func `Law 10: a view that is released with queued jobs runs them, and is then freed`()
        async
    {
        weak var view: AnyObject?
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let count = Box(0)
        await withCheckedContinuation { continuation in
            do {
                let serial = queue.context.serial()
                view = serial as AnyObject
                for _ in 0..<1000 { serial.execute { count.value += 1 } }
                serial.execute { queue.async { queue.async { continuation.resume() } } }
            }
            queue.resume()
        }
        #expect(count.value == 1000)
        #expect(view == nil)
    }
}

/// Which jobs have started and ended, and whether the laws allow it.
private struct Checker {
    let limit: Int
    var running = 0
    var barrierRuns = false
    var faults: [String] = []
    var ended: [Int]
    /// How many jobs of each submitter have started.
    private var started: [Int]
    private var lastBarrier: [Int]

    init(limit: Int, submitters: Int) {
        self.limit = limit
        ended = Array(repeating: 0, count: submitters)
        started = ended
        lastBarrier = Array(repeating: -1, count: submitters)
    }

    mutating func start(_ submitter: Int, _ index: Int, _ isBarrier: Bool) {
        running += 1
        if running > limit { fault("\(running) at a time") }
        if barrierRuns { fault("\(submitter).\(index) beside a barrier") }
        if isBarrier {
            barrierRuns = true
            if running != 1 { fault("barrier \(submitter).\(index) beside \(running - 1)") }
            if ended[submitter] != index {
                fault("barrier \(submitter).\(index) after \(ended[submitter])")
            }
            lastBarrier[submitter] = index
        } else if index < lastBarrier[submitter] || started[submitter] < index - index % 17 {
            fault("\(submitter).\(index) on the wrong side of a barrier")
        }
        if limit == 1, started[submitter] != index { fault("\(submitter).\(index) out of order") }
        started[submitter] += 1
    }

    mutating func end(_ submitter: Int, _ index: Int, _ isBarrier: Bool) {
        running -= 1
        if isBarrier { barrierRuns = false }
        ended[submitter] += 1
    }

    private mutating func fault(_ text: String) { if faults.count < 5 { faults.append(text) } }
}
