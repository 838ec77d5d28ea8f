import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Waits for a serial view of a pool whose threads may all be waiting.
@Suite(.patient)
struct WaitingTests {
    @Test(arguments: [16, 200])
    func `Laws 11, 20: jobs of a pool that all wait for one view do not wait for the pool`(
        _ jobs: Int
    ) async {
        await offThePool {
            let base = PoolOfOne()
            let view = base.serial(named: "ledger")
            let sum = Sum()
            let rounds = 50
            // The pool has one thread, so a job that waited for a second one would wait for ever.
            for _ in 0..<jobs {
                base.execute {
                    for _ in 0..<rounds {
                        view.execute { sum.add(1) }
                        view.sync { sum.add(1) }
                    }
                }
            }
            let done = DispatchSemaphore(value: 0)
            base.execute { done.signal() }
            done.wait()
            #expect(view.sync { sum.value } == 2 * jobs * rounds)
        }
    }

    @Test(arguments: [16, 200])
    func `Laws 2, 11: global jobs that all wait for one view see that their earlier jobs have run`(
        _ jobs: Int
    ) async {
        await offThePool {
            let view = GlobalContext().serial()
            let sum = Sum()
            let early = Box(0)
            let all = DispatchGroup()
            for _ in 0..<jobs {
                all.enter()
                GlobalContext().execute {
                    let mine = Sum()
                    for round in 1...20 {
                        view.execute {
                            mine.add(1)
                            sum.add(1)
                        }
                        if view.sync({ mine.value }) != round { early.withValue { $0 += 1 } }
                    }
                    all.leave()
                }
            }
            all.wait()
            #expect(early.value == 0)
            #expect(view.sync { sum.value } == 20 * jobs)
        }
    }

    @Test func `Laws 1, 2: a late drain does not run again the jobs that a waiting thread has run`()
    {
        let base = StuckPool()
        let view = base.serial()
        let log = Box<[Int]>([])
        for round in 0..<3 {
            for index in 0..<400 {
                view.execute { log.withValue { $0.append(round * 401 + index) } }
            }
            view.sync { log.withValue { $0.append(round * 401 + 400) } }
        }
        #expect(log.value == Array(0..<1203))
        // One drain has been submitted, however often a thread waited for the view.
        #expect(base.waiting == 1)
        base.runAll()
        #expect(log.value.count == 1203)
        view.execute { log.withValue { $0.append(1203) } }
        #expect(base.waiting == 1)
        base.runAll()
        #expect(log.value == Array(0..<1204))
    }

    @Test
    func `Law 1: a job that is submitted during a hold runs when the base runs the next drain`() {
        let base = StuckPool()
        let view = base.serial()
        let log = Box<[Int]>([])
        let hold = view.hold()
        view.execute { log.withValue { $0.append(1) } }
        #expect(base.waiting == 0)
        hold.release()
        // No drain was needed while the view was held. Now one has been submitted.
        #expect(log.value == [])
        #expect(base.waiting == 1)
        base.runAll()
        #expect(log.value == [1])
    }

    @Test func `Law 1: a base that drops a drain does not drop the body of a waiting thread`() {
        let base = DroppingPool()
        let view = base.serial()
        let ran = Box<[String]>([])
        view.sync {
            view.execute { ran.withValue { $0.append("behind") } }
            ran.withValue { $0.append("body") }
        }
        // The base dropped the drain and with it the job behind the body. The view continues.
        #expect(ran.value == ["body"])
        #expect(view.sync { 7 } == 7)
        base.dropsJobs = false
        view.execute { ran.withValue { $0.append("next") } }
        #expect(ran.value == ["body", "next"])
    }

    @Test func `Law 4: a job that a waiting thread runs is not inside of that thread's contexts`()
        async
    {
        await offThePool {
            let base = StuckPool()
            let view = base.serial()
            let queue = SerialQueueContext(name: "caller")
            let outer = GlobalContext().serial(named: "outer")
            let seen = Box<[Bool?]>([])
            let within = Box<[Bool?]>([])
            queue.sync {
                outer.sync {
                    view.execute {
                        seen.value = [queue.isCurrent, outer.isCurrent, view.isCurrent]
                    }
                    view.sync { within.value = [queue.isCurrent, outer.isCurrent, view.isCurrent] }
                }
            }
            #expect(seen.value == [nil, false, true])
            #expect(within.value == [true, true, true])
        }
    }

    @Test(arguments: [true, false])
    func `Law 2: jobs, sync bodies and holds of many threads run one at a time and in order`(
        _ runsAnywhere: Bool
    ) async {
        await offThePool {
            let base: any ExecutionContext =
                runsAnywhere
                ? GlobalContext() : ClosureContext { DispatchQueue.global().async(execute: $0) }
            let view = base.serial()
            let order = Order(threads: 4)
            onThreads(4) { thread in
                for index in 0..<2000 {
                    switch (index * 7 + thread) % 9 {
                    case 0: view.sync { order.run(thread, index) }
                    case 1:
                        let hold = view.hold()
                        order.run(thread, index)
                        hold.release()
                    default: view.execute { order.run(thread, index) }
                    }
                }
            }
            #expect(view.sync { order.next } == [2000, 2000, 2000, 2000])
            #expect(view.sync { order.faults } == 0)
        }
    }
}

/// A sum that one thread at a time may change, which the thread sanitizer checks.
private final class Sum: @unchecked Sendable {
    // Unchecked: that is what is tested.
    private(set) var value = 0
    func add(_ amount: Int) { value += amount }
}

/// Checks that each thread's jobs run in order, and one at a time.
private final class Order: @unchecked Sendable {
    // Unchecked: that is what is tested.
    private(set) var next: [Int]
    private(set) var faults = 0
    private var isRunning = false

    init(threads: Int) { next = Array(repeating: 0, count: threads) }

    func run(_ thread: Int, _ index: Int) {
        if isRunning || next[thread] != index { faults += 1 }
        isRunning = true
        next[thread] = index + 1
        isRunning = false
    }
}

/// A pool with a single thread.
private final class PoolOfOne: ExecutionContext {
    private let queue = DispatchQueue(label: "the only thread")
    func execute(_ work: @escaping Work) { queue.async(execute: work) }
    var runsAnywhere: Bool { true }
}

/// A pool that runs nothing until `runAll`.
private final class StuckPool: ExecutionContext {
    private let queue = Box<[Work]>([])
    var waiting: Int { queue.value.count }
    func execute(_ work: @escaping Work) { queue.withValue { $0.append(work) } }
    var runsAnywhere: Bool { true }

    func runAll() {
        while let work = queue.withValue({ $0.isEmpty ? nil : $0.removeFirst() }) { work() }
    }
}

/// A pool that drops its jobs, or runs them on the caller.
private final class DroppingPool: ExecutionContext {
    private let isDropping = Box(true)
    var dropsJobs: Bool {
        get { isDropping.value }
        set { isDropping.value = newValue }
    }
    func execute(_ work: @escaping Work) { if !dropsJobs { work() } }
    var runsAnywhere: Bool { true }
}
