import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Law 20: the writes run on the carrier, whatever that is, and a carrier that loses them loses none.
@Suite(.timeLimit(.minutes(30)))
struct ReadWriteCarrierTests {
    /// Four threads that write, in all ways, and read what they have written.
    private func exercise(
        _ coordinator: ReadWriteCoordinator, threads: Int = 4, each: Int = rounds(debug: 150, release: 2_000),
        inEachWrite look: @escaping @Sendable () -> Void = {}
    ) {
        let room = ReadWriteRoom(writers: threads)
        onThreads(
            (0..<threads).map { me in
                {
                    for round in 1...each {
                        if round % 5 == 0 {
                            coordinator.blockingWrite { room.write(me) }
                        } else {
                            coordinator.enqueueWrite {
                                look()
                                room.write(me)
                            }
                        }
                        let seen = coordinator.read { room.read(me) }
                        room.expect(seen == round, "wrote \(round) and read \(seen)")
                    }
                }
            })
        #expect(coordinator.read { room.total } == threads * each)
        #expect(room.fault == nil)
    }

    @Test func `Law 20: on a carrier whose work may run anywhere everybody reads its writes`() async {
        await watched {
            let carriers: [any ExecutionContext] = [
                .global, .global(qos: .utility), .immediate, .trampoline, BlockingContext(limit: 2),
                .global.named("another"), DispatchQueue(label: "concurrent", attributes: .concurrent).context,
            ]
            for carrier in carriers { exercise(ReadWriteCoordinator(carriedBy: carrier)) }
        }
    }

    @Test func `Laws 20, 27: a reader or writer that waits for a manual carrier drives it`() async {
        await watched {
            let manual = ManualContext(name: "manual")
            for coordinator in [
                ReadWriteCoordinator(carrier: manual), ReadWriteCoordinator(carrier: manual.serial("view")),
                ReadWriteCoordinator(carrier: manual.limited(to: 2)),
            ] {
                let strays = Box(0)
                exercise(coordinator) {
                    if manual.isCurrent != true { strays.withValue { $0 += 1 } }
                }
                #expect(strays.value == 0)
            }
        }
    }

    @Test func `Laws 20, 27: from a job of a manual context a read drives another one of its time`() {
        let time = ManualTime()
        let (disk, net) = (ManualContext(name: "disk", time: time), ManualContext(name: "net", time: time))
        let coordinator = ReadWriteCoordinator(carrier: net)
        let log = Box<[Int]>([])
        disk.execute {
            coordinator.enqueueWrite { log.withValue { $0.append(1) } }
            coordinator.read { log.withValue { $0.append(2) } }
            coordinator.enqueueWrite { log.withValue { $0.append(3) } }
            coordinator.blockingWrite { log.withValue { $0.append(4) } }
        }
        disk.runReady()
        #expect(log.value == [1, 2, 3, 4])
    }

    @Test func `Law 20: on a serial carrier the writes run there and nowhere else`() async {
        await watched {
            let carriers: [any ExecutionContext] = [
                .global.serial("view"), SerialQueueContext(label: "queue"), .thread(name: "loop"),
                BarrierQueueContext(label: "barrier").serial("view of a view"),
            ]
            for carrier in carriers {
                let strays = Box(0)
                exercise(ReadWriteCoordinator(carriedBy: carrier)) {
                    if carrier.isCurrent != true { strays.withValue { $0 += 1 } }
                }
                #expect(strays.value == 0, "\(carrier.name)")
            }
        }
    }

    @Test func `Law 20: a reader on a serial carrier runs the writes before it itself`() async {
        await watched {
            for carrier in [GlobalContext().serial(), SerialQueueContext(label: "queue")]
                as [any SerialContext & SynchronousContext]
            {
                let coordinator = ReadWriteCoordinator(carriedBy: carrier)
                let value = Box(0)
                carrier.sync {
                    for round in 1...100 {
                        coordinator.enqueueWrite { value.withValue { $0 += 1 } }
                        let seen =
                            round % 2 == 0
                            ? coordinator.read { value.value }
                            : coordinator.read(timeout: .zero) { value.value }
                        #expect(seen == round)
                    }
                }
            }
        }
    }

    @Test func `Law 20: on a carrier that runs nothing yet, a reader waits and does not help`() async {
        await watched {
            let jobs = Box<[Work]>([])
            let coordinator = ReadWriteCoordinator(
                carrier: ClosureContext { job in jobs.withValue { $0.append(job) } })
            let writer = Box<UInt32>(0)
            let isReading = DispatchSemaphore(value: 0)
            coordinator.enqueueWrite { writer.value = Seam.thread }
            onThreads([
                {
                    isReading.signal()
                    #expect(coordinator.read { writer.value } != Seam.thread)
                },
                {
                    isReading.wait()
                    let value = coordinator.read(timeout: .milliseconds(5)) { writer.value }
                    #expect(value == nil && writer.value == 0)
                    for job in jobs.value { job() }
                    #expect(coordinator.read { writer.value } == Seam.thread)
                },
            ])
        }
    }

    @Test func `Law 20: inside a manual carrier's own work a reader is where the writes are to run`() async {
        await watched {
            let carrier = ManualContext()
            let coordinator = ReadWriteCoordinator(carrier: carrier)
            let writer = Box(1)
            coordinator.enqueueWrite { writer.value = 0 }
            carrier.execute { #expect(coordinator.read { writer.value } == 0) }
            carrier.runReady()
        }
    }

    @Test func `Law 20: a carrier that refuses, drops or loses its turns loses no write`() async {
        await watched {
            let token = InvalidationToken()
            token.invalidate()
            let turns = Box(0)
            let carriers: [any ExecutionContext] = [
                FailingContext(report: { _ in }),
                ClosureContext("drops") { _ in },
                GlobalContext().bounded(1, overflow: .refuse),
                GlobalContext().bounded(1, overflow: .dropOldest { _ in }),
                GlobalContext().while(token),
                ClosureContext("drops some") { work in
                    let turn = turns.withValue { count in
                        count += 1
                        return count
                    }
                    if turn % 2 == 0 { DispatchQueue.global().async(execute: work) }
                },
            ]
            for carrier in carriers { exercise(ReadWriteCoordinator(carriedBy: carrier), each: 60) }
        }
    }

    @Test func `Law 20: a turn that the carrier keeps for long and then loses loses no write`() async {
        await watched {
            let kept = Box<[Work]>([])
            let coordinator = ReadWriteCoordinator(
                carrier: ClosureContext("keeps") { work in kept.withValue { $0.append(work) } })
            let value = Box(0)
            for round in 1...100 {
                let mayLose = DispatchSemaphore(value: 0)
                coordinator.enqueueWrite { value.withValue { $0 += 1 } }
                onThreads([
                    {
                        mayLose.signal()
                        #expect(coordinator.read { value.value } == round)
                    },
                    {
                        mayLose.wait()
                        kept.value = []
                    },
                ])
                // Whatever was asked for after the loss.
                kept.value = []
            }
        }
    }

    @Test func `Law 20: a carrier that runs turns twice, out of order or late breaks nothing`() async {
        await watched {
            let pool = DispatchQueue.global()
            exercise(
                ReadWriteCoordinator(
                    carrier: ClosureContext("twice") { work in
                        pool.async(execute: work)
                        pool.async(execute: work)
                    }))
            let pile = Box<[Work]>([])
            let isOver = Box(false)
            let pumped = DispatchSemaphore(value: 0)
            // The newest first, and each only when the pump comes round.
            Thread.detachNewThread {
                while !isOver.value { pile.withValue { $0.popLast() }?() }
                pumped.signal()
            }
            exercise(
                ReadWriteCoordinator(
                    carrier: ClosureContext("late") { work in pile.withValue { $0.append(work) } }),
                each: 50)
            isOver.value = true
            pumped.wait()
        }
    }

    @Test(arguments: [false, true])
    func `Law 20: a pool whose every thread writes and reads back finishes`(isBlocking: Bool) async {
        await watched {
            let coordinator = ReadWriteCoordinator()
            let value = Box(0)
            let group = DispatchGroup()
            for _ in 0..<64 {
                DispatchQueue.global().async(group: group) {
                    for _ in 0..<4 {
                        coordinator.enqueueWrite { value.withValue { $0 += 1 } }
                        if isBlocking { coordinator.blockingWrite { value.withValue { $0 += 1 } } }
                        coordinator.read {}
                    }
                }
            }
            group.wait()
            #expect(coordinator.read { value.value } == (isBlocking ? 512 : 256))
        }
    }

    @Test func `Law 20: tasks that write and read back on every thread of their pool finish`() async {
        let coordinator = ReadWriteCoordinator()
        let value = Box(0)
        await withTaskGroup { group in
            for _ in 0..<64 {
                group.addTask {
                    for _ in 0..<10 {
                        coordinator.enqueueWrite { value.withValue { $0 += 1 } }
                        coordinator.read {}
                    }
                }
            }
        }
        #expect(coordinator.read { value.value } == 640)
    }
}
