import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// The watchdog, in virtual time: the watched context and the one that reports share a time.
struct WatchedTests {
    /// A watched context, what was reported, and where.
    private struct Scene {
        let time = ManualTime()
        let base: ManualContext
        let desk: ManualContext
        let stalls = Box<[Stall]>([])
        let view: any SerialContext

        init(limit: Duration = .seconds(1)) {
            let base = ManualContext(name: "base", time: time)
            let desk = ManualContext(name: "desk", time: time)
            (self.base, self.desk) = (base, desk)
            view = base.watched(limit: limit, on: desk) { [stalls] stall in
                #expect(desk.isCurrent == true)
                stalls.withValue { $0.append(stall) }
            }
        }
    }

    /// A watched queue, which holds a thread of its own, in a virtual time that the desk moves on meanwhile.
    private struct Held {
        let time = ManualTime()
        let desk: ManualContext
        let stalls = Box<[Stall]>([])
        let view: any SerialContext & SynchronousBarrierContext

        struct Timed: ContextDecorator, SerialContext, SynchronousBarrierContext {
            let base: SerialQueueContext
            let time: any TimeSource
        }

        init() {
            let desk = ManualContext(name: "desk", time: time)
            self.desk = desk
            let queue = Timed(base: SerialQueueContext(label: "base"), time: desk.time)
            view =
                queue.watched(limit: .seconds(1), on: desk) { [stalls] stall in
                    stalls.withValue { $0.append(stall) }
                } as! any SerialContext & SynchronousBarrierContext
        }
    }

    @Test func `A piece that has waited too long is reported while it waits, once`() throws {
        let scene = Scene()
        scene.view.execute {}
        scene.time.stall(for: .seconds(3))
        // The desk runs and the watched context does not.
        scene.desk.runReady()
        #expect(scene.stalls.value.map(\.phase) == [.waiting])
        let stall = scene.stalls.value[0]
        #expect(stall.piece == 1 && stall.context == "base")
        #expect(stall.lasted == .seconds(3) && stall.limit == .seconds(1))
        #expect("\(stall)" == "Piece 1 has waited for 'base' for 3.00 s, and the limit is 1.00 s.")
        scene.time.stall(for: .seconds(3))
        try scene.time.runUntilIdle()
        #expect(scene.stalls.value.count == 1)
    }

    @Test func `A piece that holds the context too long is reported while it runs, once`() async {
        let scene = Held()
        await offThePool {
            let isInside = DispatchSemaphore(value: 0)
            let mayEnd = DispatchSemaphore(value: 0)
            scene.view.execute {
                isInside.signal()
                mayEnd.wait()
            }
            isInside.wait()
            scene.desk.advance(by: .milliseconds(999))
            #expect(scene.stalls.value.isEmpty)
            // The report is made while the piece still runs.
            scene.desk.advance(by: .seconds(5))
            #expect(scene.stalls.value.map(\.phase) == [.running])
            mayEnd.signal()
            scene.view.sync {}
        }
        #expect(scene.stalls.value.map(\.piece) == [1])
        #expect(scene.stalls.value[0].lasted == .seconds(1))
        #expect(scene.time.pending.isEmpty)
    }

    @Test func `Where one piece holds for long, it runs too long and those behind it wait too long`() async {
        let scene = Held()
        await offThePool {
            let isInside = DispatchSemaphore(value: 0)
            let mayEnd = DispatchSemaphore(value: 0)
            scene.view.execute {
                isInside.signal()
                mayEnd.wait()
            }
            isInside.wait()
            for _ in 0..<2 { scene.view.execute {} }
            scene.desk.advance(by: .seconds(1))
            mayEnd.signal()
            scene.view.sync {}
        }
        #expect(scene.stalls.value.map(\.phase) == [.running, .waiting, .waiting])
        #expect(scene.stalls.value.map(\.piece) == [1, 2, 3])
    }

    @Test func `The report of a stall in system time is made elsewhere, while it lasts`() async {
        let stalls = Box<[Stall]>([])
        await offThePool {
            let reported = DispatchSemaphore(value: 0)
            let ended = DispatchSemaphore(value: 0)
            let view = SerialQueueContext(label: "base").watched(limit: .milliseconds(1)) { stall in
                stalls.withValue { $0.append(stall) }
                reported.signal()
            }
            view.execute {
                // On a busy machine it has been reported as waiting already: either way it ends by the report.
                reported.wait()
                ended.signal()
            }
            ended.wait()
        }
        #expect(stalls.value.map(\.piece) == [1])
        #expect(stalls.value[0].lasted >= .milliseconds(1))
    }

    @Test func `Law 10: pieces that end in time leave nothing behind`() throws {
        let scene = Scene()
        for _ in 0..<100 { scene.view.execute {} }
        #expect(scene.time.pending.count == 200)
        scene.base.runReady()
        #expect(scene.time.pending.isEmpty)
        scene.time.stall(for: .seconds(10))
        try scene.time.runUntilIdle()
        #expect(scene.stalls.value.isEmpty)
        try scene.base.finish()
        try scene.desk.finish()
    }

    @Test func `Law 10: work that its context lets go of leaves no alarm behind`() {
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

    @Test func `What passes the limit and is over before the report is made is not reported`() throws {
        let scene = Scene()
        scene.view.execute { scene.time.stall(for: .seconds(5)) }
        try scene.time.runUntilIdle()
        #expect(scene.stalls.value.isEmpty)
        // Due, and before its turn at the desk the piece starts and ends.
        scene.view.execute {}
        scene.time.stall(for: .seconds(5))
        scene.base.runReady()
        try scene.time.runUntilIdle()
        #expect(scene.stalls.value.isEmpty)
    }

    @Test func `A body that is waited for is watched too, and so is a hold`() async {
        let scene = Held()
        await offThePool {
            scene.view.sync { scene.desk.advance(by: .seconds(2)) }
            let hold = scene.view.hold()
            scene.desk.advance(by: .seconds(2))
            hold.release()
            scene.view.syncBarrier {}
            scene.desk.advance(by: .seconds(2))
        }
        #expect(scene.stalls.value.map(\.phase) == [.running, .running])
        #expect(scene.stalls.value.map(\.piece) == [1, 2])
    }

    @Test func `A delay counts from when it is due`() throws {
        let scene = Scene()
        scene.view.schedule(after: .seconds(60)) {}
        scene.time.advance(by: .seconds(60))
        try scene.time.runUntilIdle()
        #expect(scene.stalls.value.isEmpty)
    }

    @Test func `Law 9: a report may use the watched context`() {
        let time = ManualTime()
        let base = ManualContext(time: time)
        let desk = ManualContext(time: time)
        let view = Box<(any SerialContext)?>(nil)
        let ran = Box(0)
        view.value = base.watched(limit: .seconds(1), on: desk) { _ in
            view.value?.execute { ran.withValue { $0 += 1 } }
        }
        view.value?.execute {}
        time.stall(for: .seconds(2))
        desk.runReady()
        base.runReady()
        #expect(ran.value == 1)
        view.value = nil
    }

    @Test func `A limit that every piece would pass stops the program`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = ManualContext(name: "base").watched(limit: .zero) { _ in }
        }
        try expectSentence(result, "'base'", "limit above zero")
    }

    @Test func `A recorder without room stops the program`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = Recorder(capacity: 0)
        }
        try expectSentence(result, "0 events", "law 11")
    }
}
