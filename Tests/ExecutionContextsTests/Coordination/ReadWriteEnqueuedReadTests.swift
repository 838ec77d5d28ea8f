import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Enqueued reads: their position among the writes, and the thread that runs them.
@Suite(.patient)
struct ReadWriteEnqueuedReadTests {
    /// A write that stays inside until `leave`.
    private final class Occupant: Sendable {
        private let isInside = DispatchSemaphore(value: 0)
        private let mayLeave = DispatchSemaphore(value: 0)
        private let hasLeft = DispatchSemaphore(value: 0)

        init(_ coordinator: ReadWriteCoordinator) {
            Thread.detachNewThread { [self] in
                coordinator.blockingWrite {
                    isInside.signal()
                    mayLeave.wait()
                }
                hasLeft.signal()
            }
            isInside.wait()
        }

        func leave() { mayLeave.signal() }

        func waitUntilItHasLeft() { hasLeft.wait() }
    }

    @Test(arguments: [false, true])
    func `Laws 17, 20: an enqueued read gets a thread though all pool threads wait behind it`(
        isRaw: Bool
    )
        async
    {
        await watched {
            let coordinator = ReadWriteCoordinator(writesOn: SerialQueueContext(name: "writes"))
            let occupant = Occupant(coordinator)
            let log = Box<[Int]>([])
            coordinator.reading.enqueue { log.withValue { $0.append(0) } }
            // More writers than pool threads. The library knows of none on the raw system queue.
            let writers = blockingWrites(200, on: coordinator, isRaw: isRaw) { writer in
                log.withValue { $0.append(writer) }
            }
            occupant.leave()
            writers.wait()
            #expect(log.value.first == 0 && log.value.count == 201)
            occupant.waitUntilItHasLeft()
        }
    }

    /// Starts blocking writes, on the raw system queue or by the library; the group awaits them.
    private func blockingWrites(
        _ count: Int, on coordinator: ReadWriteCoordinator, isRaw: Bool,
        _ body: @escaping @Sendable (Int) -> Void
    ) -> DispatchGroup {
        let writers = DispatchGroup()
        for writer in 1...count {
            let work: Work = {
                coordinator.blockingWrite { body(writer) }
                writers.leave()
            }
            writers.enter()
            if isRaw {
                DispatchQueue.global().async(execute: work)
            } else {
                GlobalContext().execute(work)
            }
        }
        return writers
    }

    @Test(arguments: [false, true])
    func `Laws 4, 10, 20: a read on a reserve thread is inside until its captures are freed`(
        isRaw: Bool
    ) async {
        await watched {
            let coordinator = ReadWriteCoordinator(writesOn: SerialQueueContext(name: "writes"))
            let occupant = Occupant(coordinator)
            let log = Box<[String]>([])
            let note: @Sendable (String) -> Void = { what in
                let isInside = coordinator.reading.isCurrent == true
                log.withValue { $0.append(isInside ? "\(what) inside" : what) }
            }
            func read() -> Work {
                let farewell = Farewell { note("freed") }
                return {
                    note("read")
                    withExtendedLifetime(farewell) {}
                }
            }
            coordinator.reading.enqueue(read())
            let writers = blockingWrites(200, on: coordinator, isRaw: isRaw) { _ in
                log.withValue { $0.append("written") }
            }
            occupant.leave()
            writers.wait()
            #expect(
                log.value == ["read inside", "freed inside"]
                    + Array(repeating: "written", count: 200))
            occupant.waitUntilItHasLeft()
        }
    }

    @Test
    func `Laws 17, 20: an awaited read behind a write ends beside blocking writes on the pool`()
        async throws
    {
        for _ in 0..<rounds(debug: 5, release: 50) {
            let coordinator = ReadWriteCoordinator(writesOn: SerialQueueContext(name: "writes"))
            let mayEnd = DispatchSemaphore(value: 0)
            coordinator.enqueueWrite { mayEnd.wait() }
            async let value = coordinator.readAsync { 1 }
            let writers = DispatchGroup()
            for _ in 0..<64 {
                writers.enter()
                GlobalContext().execute {
                    coordinator.blockingWrite {}
                    writers.leave()
                }
            }
            mayEnd.signal()
            #expect(try await value == 1)
            await watched { writers.wait() }
        }
    }

    @Test func `Laws 17, 20: reads that wait for one another get a thread each`() async {
        await watched {
            let coordinator = ReadWriteCoordinator(writesOn: SerialQueueContext(name: "writes"))
            let occupant = Occupant(coordinator)
            let steps = (0..<4).map { _ in DispatchSemaphore(value: 0) }
            let ended = DispatchGroup()
            for index in 0..<3 {
                ended.enter()
                coordinator.reading.enqueue {
                    // Each read waits for the one behind it.
                    if index < 2 { steps[index + 1].wait() }
                    steps[index].signal()
                    ended.leave()
                }
            }
            for _ in 0..<200 {
                ended.enter()
                DispatchQueue.global().async {
                    coordinator.blockingWrite {}
                    ended.leave()
                }
            }
            occupant.leave()
            ended.wait()
        }
    }

    @Test(arguments: [false, true])
    func `Law 17: an enqueued read sees no write that its submitter enqueues after it`(
        isOccupied: Bool
    ) async {
        await watched {
            for writeContext in [
                GlobalContext(), SerialQueueContext(name: "writes"), ImmediateContext(),
            ]
                as [any ExecutionContext]
            {
                let coordinator = ReadWriteCoordinator(writesOnAny: writeContext)
                let value = Box(0)
                let seen = Box<[Int]>([])
                let occupant = isOccupied ? Occupant(coordinator) : nil
                let ended = DispatchGroup()
                for _ in 0..<50 {
                    coordinator.enqueueWrite { value.withValue { $0 += 1 } }
                    ended.enter()
                    coordinator.reading.enqueue {
                        seen.withValue { $0.append(value.value) }
                        ended.leave()
                    }
                }
                occupant?.leave()
                ended.wait()
                #expect(seen.value == Array(1...50))
            }
        }
    }

    @Test func `Law 17: a blocking write overtakes no read that its submitter enqueued before it`()
        async
    {
        await watched {
            let coordinator = ReadWriteCoordinator()
            let room = ReadWriteRoom(writers: 4)
            onThreads(4) { me in
                for round in 0..<rounds(debug: 500, release: 20_000) {
                    coordinator.reading.enqueue {
                        let seen = room.read(me)
                        room.expect(seen == round, "\(round) written before, and \(seen) seen")
                    }
                    coordinator.blockingWrite { room.write(me) }
                }
            }
            #expect(room.fault == nil)
        }
    }

    @Test(arguments: [false, true])
    func `Law 17: a blocking write that runs the writes before it overtakes no read between them`(
        isTimed: Bool
    ) async {
        await watched {
            let writeContext = SerialQueueContext(name: "writes")
            let coordinator = ReadWriteCoordinator(writesOn: writeContext)
            let value = Box(0)
            let seen = Box(0)
            writeContext.sync {
                coordinator.enqueueWrite { value.value = 1 }
                coordinator.reading.enqueue { seen.value = value.value }
                if isTimed {
                    _ = coordinator.blockingWrite(timeout: .seconds(100)) { value.value = 2 }
                } else {
                    coordinator.blockingWrite { value.value = 2 }
                }
            }
            #expect(seen.value == 1 && value.value == 2)
        }
    }

    @Test func `Law 17: ten thousand reads behind one write wait for that write only`() async {
        await watched {
            let writeContext = ManualQueue()
            let coordinator = ReadWriteCoordinator(writesOn: writeContext.context)
            let value = Box(0)
            let seen = Box(0)
            let ended = DispatchGroup()
            coordinator.enqueueWrite { value.value = 1 }
            for _ in 0..<10_000 {
                ended.enter()
                coordinator.reading.enqueue {
                    if value.value == 1 { seen.withValue { $0 += 1 } }
                    ended.leave()
                }
            }
            writeContext.run()
            ended.wait()
            #expect(seen.value == 10_000)
        }
    }

    /// A context whose jobs run when the test calls `run`.
    private final class ManualQueue: Sendable {
        private let jobs = Box<[Work]>([])

        var context: ClosureContext {
            ClosureContext(name: "manual") { [jobs] work in jobs.withValue { $0.append(work) } }
        }

        func run() {
            while let work = jobs.withValue({ $0.isEmpty ? nil : $0.removeFirst() }) { work() }
        }
    }
}
