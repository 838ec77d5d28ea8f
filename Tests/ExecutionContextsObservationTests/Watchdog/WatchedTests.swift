import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Testing

/// The watchdog in virtual time, which the watched context and the reporting one share.
struct WatchedTests {
    /// A watched context, the stalls that were reported, and the context that reports them.
    private struct Scene {
        let time = ManualTime()
        let base: ManualContext
        let reporter: ManualContext
        let stalls = Box<[StalledJob]>([])
        let view: any SerialContext

        init(limit: Duration = .seconds(1)) {
            let base = ManualContext(name: "base", time: time)
            let reporter = ManualContext(name: "reporter", time: time)
            (self.base, self.reporter) = (base, reporter)
            view = base.watched(limit: limit, on: reporter) { [stalls] stall in
                #expect(reporter.isCurrent == true)
                stalls.withValue { $0.append(stall) }
            }
        }
    }

    /// A watched queue with a thread of its own. The reporter advances its virtual time meanwhile.
    private struct Held {
        let time = ManualTime()
        let reporter: ManualContext
        let stalls = Box<[StalledJob]>([])
        let view: any SerialContext & SynchronousBarrierContext

        struct Timed: ContextDecorator, SerialContext, SynchronousBarrierContext {
            let base: SerialQueueContext
            let time: any TimeSource
        }

        init() {
            let reporter = ManualContext(name: "reporter", time: time)
            self.reporter = reporter
            let queue = Timed(base: SerialQueueContext(name: "base"), time: reporter.time)
            view =
                queue.watched(limit: .seconds(1), on: reporter) { [stalls] stall in
                    stalls.withValue { $0.append(stall) }
                }
        }
    }

    @Test func `A job that has waited too long is reported once, while it waits`() throws {
        let scene = Scene()
        scene.view.execute {}
        let place = "WatchedTests.swift:\(#line - 1)"
        scene.time.stall(for: .seconds(3))
        // The reporter runs, and the watched context does not.
        scene.reporter.runReady()
        #expect(scene.stalls.value.map(\.phase) == [.waiting])
        let stall = scene.stalls.value[0]
        #expect(stall.job == 1 && stall.context == "base")
        #expect(stall.lasted == .seconds(3) && stall.limit == .seconds(1))
        #expect(
            "\(stall)"
                == "Job 1 (\(place)) has waited for 'base' for 3.00 s, and the limit is 1.00 s. "
                + "No job of the view is in front.")
        #expect(stall.front == nil && stall.waiting == 1)
        scene.time.stall(for: .seconds(3))
        try scene.time.runUntilIdle()
        #expect(scene.stalls.value.count == 1)
    }

    @Test func `A job that occupies the context too long is reported once, while it runs`() async {
        let scene = Held()
        await offThePool {
            let isInside = DispatchSemaphore(value: 0)
            let mayEnd = DispatchSemaphore(value: 0)
            scene.view.execute {
                isInside.signal()
                mayEnd.wait()
            }
            isInside.wait()
            scene.reporter.advance(by: .milliseconds(999))
            #expect(scene.stalls.value.isEmpty)
            // The report is made while the job still runs.
            scene.reporter.advance(by: .seconds(5))
            #expect(scene.stalls.value.map(\.phase) == [.running])
            mayEnd.signal()
            scene.view.sync {}
        }
        #expect(scene.stalls.value.map(\.job) == [1])
        #expect(scene.stalls.value[0].lasted == .seconds(1))
        #expect(scene.time.pending.isEmpty)
    }

    @Test func `One cause is one report, however many jobs wait for it`() async {
        let scene = Held()
        await offThePool {
            let isInside = DispatchSemaphore(value: 0)
            let mayEnd = DispatchSemaphore(value: 0)
            scene.view.execute {
                isInside.signal()
                mayEnd.wait()
            }
            isInside.wait()
            for _ in 0..<13 {
                scene.view.execute {}
                scene.reporter.advance(by: .milliseconds(100))
            }
            scene.reporter.advance(by: .seconds(10))
            mayEnd.signal()
            scene.view.sync {}
        }
        #expect(scene.stalls.value.map(\.job) == [1])
        #expect(scene.stalls.value[0].phase == .running)
        #expect(scene.stalls.value[0].waiting == 10)
        #expect("\(scene.stalls.value[0])".hasSuffix(", and the limit is 1.00 s. 10 jobs wait."))
    }

    @Test func `The report of a job that waits names the job in front`() async {
        let scene = Held()
        await offThePool {
            let isInside = DispatchSemaphore(value: 0)
            let mayEnd = DispatchSemaphore(value: 0)
            // The first one begins later than those behind it are submitted, as on a busy machine.
            let hold = scene.view.hold()
            scene.view.with(.labeled("slow")).execute {
                isInside.signal()
                mayEnd.wait()
            }
            for _ in 0..<2 { scene.view.execute {} }
            scene.reporter.advance(by: .milliseconds(200))
            hold.release()
            isInside.wait()
            scene.reporter.advance(by: .seconds(5))
            mayEnd.signal()
            scene.view.sync {}
        }
        let stalls = scene.stalls.value
        #expect(stalls.map(\.phase) == [.waiting])
        #expect(stalls[0].front?.lasted == .milliseconds(800))
        #expect(stalls[0].front?.label == "slow")
        // A line, or in a release build the function.
        #expect(stalls[0].front?.sourceLocation?.contains("WatchedTests") == true)
        #expect(stalls[0].front?.job == stalls[0].job - 1)
        let front = "\(stalls[0].job - 1) (slow)"
        #expect("\(stalls[0])".hasSuffix("In front is job \(front), for 800 ms. 2 jobs wait."))
    }

    @Test func `A stall after one that has ended is reported, too`() {
        let scene = Scene()
        for _ in 0..<3 {
            for _ in 0..<5 { scene.view.execute {} }
            scene.time.stall(for: .seconds(2))
            scene.reporter.runReady()
            scene.base.runReady()
        }
        #expect(scene.stalls.value.map(\.job) == [1, 6, 11])
        #expect(scene.stalls.value.map(\.waiting) == [5, 5, 5])
    }

    @Test func `A stall in system time is reported on another context, while it lasts`() async {
        let stalls = Box<[StalledJob]>([])
        await offThePool {
            let reported = DispatchSemaphore(value: 0)
            let ended = DispatchSemaphore(value: 0)
            let view = SerialQueueContext(name: "base").watched(limit: .milliseconds(1)) { stall in
                stalls.withValue { $0.append(stall) }
                reported.signal()
            }
            view.execute {
                // On a busy machine the job has been reported as waiting already, and is then
                // reported as running, too. Either report ends the job.
                reported.wait()
                ended.signal()
            }
            ended.wait()
        }
        #expect(Set(stalls.value.map(\.job)) == [1])
        #expect(stalls.value[0].lasted >= .milliseconds(1))
    }

    @Test func `Law 10: jobs that end in time leave nothing behind`() throws {
        let scene = Scene()
        for _ in 0..<100 { scene.view.execute {} }
        // The jobs, and one alarm for all of them.
        #expect(scene.time.pending.count == 101)
        scene.base.runReady()
        #expect(scene.time.pending.isEmpty)
        scene.time.stall(for: .seconds(10))
        try scene.time.runUntilIdle()
        #expect(scene.stalls.value.isEmpty)
        try scene.base.finish()
        try scene.reporter.finish()
    }

    @Test func `Law 10: a job that its context drops leaves no alarm behind`() {
        let time = ManualTime()
        let manual = ManualContext(time: time)
        struct Leaky: ExecutionContext {
            let time: any TimeSource
            func execute(_ work: @escaping Work) {}
        }
        let view = Leaky(time: manual.time).watched(limit: .seconds(1)) { _ in }
        view.execute {}
        #expect(time.pending.isEmpty)
    }

    @Test func `A job that exceeds the limit but ends before the report is made is not reported`()
        throws
    {
        let scene = Scene()
        scene.view.execute { scene.time.stall(for: .seconds(5)) }
        try scene.time.runUntilIdle()
        #expect(scene.stalls.value.isEmpty)
        // The report is due, but the job starts and ends before the reporter runs.
        scene.view.execute {}
        scene.time.stall(for: .seconds(5))
        scene.base.runReady()
        try scene.time.runUntilIdle()
        #expect(scene.stalls.value.isEmpty)
    }

    @Test func `The body of a sync is watched, too, and so is a hold`() async {
        let scene = Held()
        await offThePool {
            scene.view.sync { scene.reporter.advance(by: .seconds(2)) }
            let hold = scene.view.hold()
            scene.reporter.advance(by: .seconds(2))
            hold.release()
            scene.view.syncBarrier {}
            scene.reporter.advance(by: .seconds(2))
        }
        #expect(scene.stalls.value.map(\.phase) == [.running, .running])
        #expect(scene.stalls.value.map(\.job) == [1, 2])
    }

    @Test func `A delayed job counts as waiting from its deadline on`() throws {
        let scene = Scene()
        scene.view.schedule(after: .seconds(60)) {}
        scene.time.advance(by: .seconds(60))
        try scene.time.runUntilIdle()
        #expect(scene.stalls.value.isEmpty)
    }

    @Test func `Law 9: a report may use the watched context`() {
        let time = ManualTime()
        let base = ManualContext(time: time)
        let reporter = ManualContext(time: time)
        let view = Box<(any SerialContext)?>(nil)
        let ran = Box(0)
        view.value = base.watched(limit: .seconds(1), on: reporter) { _ in
            view.value?.execute { ran.withValue { $0 += 1 } }
        }
        view.value?.execute {}
        time.stall(for: .seconds(2))
        reporter.runReady()
        base.runReady()
        #expect(ran.value == 1)
        view.value = nil
    }

    @Test func `A limit of zero traps with a message`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = ManualContext(name: "base").watched(limit: .zero) { _ in }
        }
        try expectTrap(result, "'base'", "limit above zero")
    }

    @Test func `A recorder without capacity traps with a message`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = Recorder(capacity: 0)
        }
        try expectTrap(result, "0 events", "law 11")
    }
}
