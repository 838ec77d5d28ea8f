import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Law 20: the sides of a coordinator are contexts and keep the laws of contexts.
@Suite(.timeLimit(.minutes(30)))
struct ReadWriteSideTests {
    private static let carriers: [any ExecutionContext] = [
        .global, .immediate, .trampoline, .global.serial(), SerialQueueContext(label: "queue"),
        ClosureContext("drops") { _ in },
    ]

    @Test(arguments: 0..<carriers.count)
    func `Law 20: the writing side is a serial context`(over index: Int) async {
        let coordinator = ReadWriteCoordinator(carriedBy: Self.carriers[index])
        let breaches = await Laws.check(coordinator.writing, patience: .seconds(900))
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test(arguments: 0..<carriers.count)
    func `Law 20: the reading side is a context`(over index: Int) async {
        let coordinator = ReadWriteCoordinator(carriedBy: Self.carriers[index])
        let breaches = await Laws.check(coordinator.reading, patience: .seconds(900))
        #expect(breaches.isEmpty, "\(breaches)")
    }

    @Test func `Law 7: what must not run on the caller does not, also where the carrier's work does`()
        async
    {
        await watched {
            for carrier in [ImmediateContext(), TrampolineContext()] as [any ExecutionContext] {
                let coordinator = ReadWriteCoordinator(carriedBy: carrier)
                for side in [coordinator.writing, coordinator.reading] as [any ExecutionContext] {
                    let end = DispatchSemaphore(value: 0)
                    let caller = Seam.thread
                    side.enqueue {
                        #expect(Seam.thread != caller)
                        end.signal()
                    }
                    end.wait()
                }
            }
        }
    }

    @Test func `Law 13: an actor on the writing side keeps readers out`() async {
        let coordinator = ReadWriteCoordinator()
        let room = ReadWriteRoom(writers: 4)
        let keeper = Keeper(coordinator.writing, room)
        await withTaskGroup { group in
            for me in 0..<4 {
                group.addTask {
                    for round in 1...200 {
                        await keeper.write(me)
                        let seen = coordinator.read { room.read(me) }
                        room.expect(seen == round, "wrote \(round) and read \(seen)")
                    }
                }
            }
        }
        await offThePool {
            coordinator.blockingWrite { keeper.assumeIsolated { $0.room.write(0) } }
            #expect(coordinator.read { room.total } == 801)
        }
        #expect(room.fault == nil)
    }

    @Test func `Law 20: submissions to both sides answer, with the values and errors of their bodies`()
        async throws
    {
        struct Failure: Error {}
        let coordinator = ReadWriteCoordinator(name: "ledger")
        #expect(coordinator.writing.name == "ledger.writing" && coordinator.reading.name == "ledger.reading")
        let value = Box(0)
        for round in 1...50 {
            #expect(try await coordinator.writing.run { value.increment() } == round)
            #expect(try await coordinator.reading.run { value.value } == round)
            #expect(try await coordinator.reading.submit { value.value }.get() == round)
            await #expect(throws: Failure.self) {
                try await coordinator.writing.submit { throw Failure() }.get()
            }
            await #expect(throws: Failure.self) { try await coordinator.reading.run { throw Failure() } }
        }
    }

    @Test func `Law 7: delays of both sides run in the time of the carrier`() async {
        let carrier = ManualContext()
        let coordinator = ReadWriteCoordinator(carrier: carrier)
        await withCheckedContinuation { continuation in
            coordinator.writing.schedule(after: .seconds(3600)) {
                #expect(coordinator.writing.isCurrent == true && carrier.isCurrent == true)
                continuation.resume()
            }
            carrier.advance(by: .seconds(3600))
        }
        await withCheckedContinuation { continuation in
            coordinator.reading.schedule(after: .seconds(3600)) {
                #expect(coordinator.reading.isCurrent == true && coordinator.writing.isCurrent == false)
                continuation.resume()
            }
            carrier.advance(by: .seconds(3600))
        }
    }
}

private actor Keeper {
    private let executor: any SerialExecutor
    let room: ReadWriteRoom
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ context: some ActorBackingContext, _ room: ReadWriteRoom) {
        executor = context.serialExecutor
        self.room = room
    }

    func write(_ writer: Int) { room.write(writer) }
}
