import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Law 20: the sides of a coordinator are contexts, and keep the laws of contexts.
@Suite(.patient)
struct ReadWriteSideTests {
    private static let writeContexts: [any ExecutionContext] = [
        .global, .immediate, .trampoline, .global.serial(), SerialQueueContext(name: "queue"),
        ClosureContext(name: "drops") { _ in },
    ]

    @Test(arguments: 0..<writeContexts.count)
    func `Law 20: the writing side is a serial context`(over index: Int) async {
        let coordinator = ReadWriteCoordinator(writesOnAny: Self.writeContexts[index])
        let breaches = await Laws.check(coordinator.writing, patience: Patience.event)
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test(arguments: 0..<writeContexts.count)
    func `Law 20: the reading side is a context`(over index: Int) async {
        let coordinator = ReadWriteCoordinator(writesOnAny: Self.writeContexts[index])
        let breaches = await Laws.check(coordinator.reading, patience: Patience.event)
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test
    func `Law 7: an enqueued job never runs on its submitter, even over an inline write context`()
        async
    {
        await watched {
            for context in [ImmediateContext(), TrampolineContext()] as [any ExecutionContext] {
                let coordinator = ReadWriteCoordinator(writesOnAny: context)
                for side in [coordinator.writing, coordinator.reading] as [any ExecutionContext] {
                    let end = DispatchSemaphore(value: 0)
                    let caller = SimulationHooks.thread
                    side.enqueue {
                        #expect(SimulationHooks.thread != caller)
                        end.signal()
                    }
                    end.wait()
                }
            }
        }
    }

    @Test func `Law 13: an actor on the writing side excludes readers`() async {
        let coordinator = ReadWriteCoordinator()
        let room = ReadWriteRoom(writers: 4)
        let writer = WritingActor(coordinator.writing, room)
        await withTaskGroup { group in
            for me in 0..<4 {
                group.addTask {
                    for round in 1...200 {
                        await writer.write(me)
                        let seen = coordinator.read { room.read(me) }
                        room.expect(seen == round, "wrote \(round) and read \(seen)")
                    }
                }
            }
        }
        await offThePool {
            coordinator.blockingWrite { writer.assumeIsolated { $0.room.write(0) } }
            #expect(coordinator.read { room.total } == 801)
        }
        #expect(room.fault == nil)
    }

    @Test
    func `Law 20: submissions to both sides complete with the values and errors of their bodies`()
        async throws
    {
        struct Failure: Error {}
        let coordinator = ReadWriteCoordinator(name: "ledger")
        #expect(
            coordinator.writing.name == "ledger.writing"
                && coordinator.reading.name == "ledger.reading")
        let value = Box(0)
        for round in 1...50 {
            #expect(try await coordinator.writing.run { value.increment() } == round)
            #expect(try await coordinator.reading.run { value.value } == round)
            #expect(try await coordinator.reading.submit { value.value }.get() == round)
            await #expect(throws: Failure.self) {
                try await coordinator.writing.submit { throw Failure() }.get()
            }
            await #expect(throws: Failure.self) {
                try await coordinator.reading.run { throw Failure() }
            }
        }
    }

    @Test func `Law 7: delayed jobs of both sides use the time source of the write context`() async
    {
        let context = ManualContext()
        let coordinator = ReadWriteCoordinator(writesOn: context)
        await withCheckedContinuation { continuation in
            coordinator.writing.schedule(after: .seconds(3600)) {
                #expect(coordinator.writing.isCurrent == true && context.isCurrent == true)
                continuation.resume()
            }
            context.advance(by: .seconds(3600))
        }
        await withCheckedContinuation { continuation in
            coordinator.reading.schedule(after: .seconds(3600)) {
                #expect(
                    coordinator.reading.isCurrent == true && coordinator.writing.isCurrent == false)
                continuation.resume()
            }
            context.advance(by: .seconds(3600))
        }
    }
}

private actor WritingActor {
    private let executor: any SerialExecutor
    let room: ReadWriteRoom
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    init(_ context: some ActorBackingContext, _ room: ReadWriteRoom) {
        executor = context
        self.room = room
    }

    func write(_ writer: Int) { room.write(writer) }
}
