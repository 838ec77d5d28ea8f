import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Law 20: enqueued writes run on the write context, and none is lost if it drops its drains.
@Suite(.patient)
struct WriteContextTests {
    /// Writes from `threads` threads, in all ways; each thread then reads what it has written.
    private func exercise(
        _ coordinator: ReadWriteCoordinator, threads: Int = 4,
        each: Int = rounds(debug: 150, release: 2_000),
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

    @Test func `Law 20: if the writes may run anywhere, each thread reads its own writes`() async {
        await watched {
            let writeContexts: [any ExecutionContext] = [
                .global, .global(qos: .utility), .immediate, .trampoline, BlockingContext(limit: 2),
                .global.named("another"),
                DispatchQueue(label: "concurrent", attributes: .concurrent).context,
            ]
            for context in writeContexts { exercise(ReadWriteCoordinator(writesOnAny: context)) }
        }
    }

    @Test func `Laws 20, 27: a reader or writer that waits for a manual write context drives it`()
        async
    {
        await watched {
            let manual = ManualContext(name: "manual")
            for coordinator in [
                ReadWriteCoordinator(writesOn: manual),
                ReadWriteCoordinator(writesOn: manual.serial(named: "view")),
                ReadWriteCoordinator(writesOn: manual.limited(to: 2)),
            ] {
                let strays = Box(0)
                exercise(coordinator) {
                    if manual.isCurrent != true { strays.withValue { $0 += 1 } }
                }
                #expect(strays.value == 0)
            }
        }
    }

    @Test func `Laws 20, 27: a read in a manual context's job drives another context of that time`()
    {
        let time = ManualTime()
        let (disk, net) = (
            ManualContext(name: "disk", time: time), ManualContext(name: "net", time: time)
        )
        let coordinator = ReadWriteCoordinator(writesOn: net)
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

    @Test func `Law 20: on a serial write context the writes run there and nowhere else`() async {
        await watched {
            let writeContexts: [any ExecutionContext] = [
                .global.serial(named: "view"), SerialQueueContext(name: "queue"),
                .thread(named: "thread"), .runLoopThread(named: "loop"),
                BarrierQueueContext(name: "barrier").serial(named: "view of a view"),
            ]
            for writeContext in writeContexts {
                let strays = Box(0)
                exercise(ReadWriteCoordinator(writesOnAny: writeContext)) {
                    if writeContext.isCurrent != true { strays.withValue { $0 += 1 } }
                }
                #expect(strays.value == 0, "\(writeContext.name)")
            }
        }
    }

    @Test func `Law 20: a reader on a serial write context runs the writes before it itself`() async
    {
        await watched {
            for writeContext in [GlobalContext().serial(), SerialQueueContext(name: "queue")]
                as [any SerialContext & SynchronousContext]
            {
                let coordinator = ReadWriteCoordinator(writesOnAny: writeContext)
                let value = Box(0)
                writeContext.sync {
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

    @Test func `Law 20: while the write context runs nothing, a reader waits and does not help`()
        async
    {
        await watched {
            let jobs = Box<[Work]>([])
            let coordinator = ReadWriteCoordinator(
                writesOn: ClosureContext { job in jobs.withValue { $0.append(job) } })
            let writer = Box<UInt32>(0)
            let isReading = DispatchSemaphore(value: 0)
            coordinator.enqueueWrite { writer.value = SimulationHooks.thread }
            onThreads([
                {
                    isReading.signal()
                    #expect(coordinator.read { writer.value } != SimulationHooks.thread)
                },
                {
                    isReading.wait()
                    let value = coordinator.read(timeout: .milliseconds(5)) { writer.value }
                    #expect(value == nil && writer.value == 0)
                    for job in jobs.value { job() }
                    #expect(coordinator.read { writer.value } == SimulationHooks.thread)
                },
            ])
        }
    }

    @Test func `Law 20: a reader in a job of a manual write context runs the writes before it`()
        async
    {
        await watched {
            let writeContext = ManualContext()
            let coordinator = ReadWriteCoordinator(writesOn: writeContext)
            let writer = Box(1)
            coordinator.enqueueWrite { writer.value = 0 }
            writeContext.execute { #expect(coordinator.read { writer.value } == 0) }
            writeContext.runReady()
        }
    }

    @Test func `Law 20: a write context that refuses or drops its drains drops no write`() async {
        await watched {
            let token = InvalidationToken()
            token.invalidate()
            let drains = Box(0)
            let writeContexts: [any ExecutionContext] = [
                FailingContext(report: { _ in }),
                ClosureContext(name: "drops") { _ in },
                GlobalContext().bounded(to: 1, overflow: .refuse),
                GlobalContext().bounded(to: 1, overflow: .dropOldest { _ in }),
                GlobalContext().valid(while: token),
                ClosureContext(name: "drops some") { work in
                    let number = drains.withValue { count in
                        count += 1
                        return count
                    }
                    if number % 2 == 0 { DispatchQueue.global().async(execute: work) }
                },
            ]
            for context in writeContexts {
                exercise(ReadWriteCoordinator(writesOnAny: context), each: 60)
            }
        }
    }

    @Test func `Law 20: a write context that keeps a drain and drops it later drops no write`()
        async
    {
        await watched {
            let kept = Box<[Work]>([])
            let coordinator = ReadWriteCoordinator(
                writesOn: ClosureContext(name: "keeps") { work in kept.withValue { $0.append(work) }
                })
            let value = Box(0)
            for round in 1...100 {
                let mayDrop = DispatchSemaphore(value: 0)
                coordinator.enqueueWrite { value.withValue { $0 += 1 } }
                onThreads([
                    {
                        mayDrop.signal()
                        #expect(coordinator.read { value.value } == round)
                    },
                    {
                        mayDrop.wait()
                        kept.value = []
                    },
                ])
                // Drops the drains that were submitted since.
                kept.value = []
            }
        }
    }

    @Test func `Law 20: a write context may run drains twice, out of order or late`() async {
        await watched {
            let pool = DispatchQueue.global()
            exercise(
                ReadWriteCoordinator(
                    writesOn: ClosureContext(name: "twice") { work in
                        pool.async(execute: work)
                        pool.async(execute: work)
                    }))
            let pending = Box<[Work]>([])
            let isOver = Box(false)
            let hasEnded = DispatchSemaphore(value: 0)
            // Runs the newest drain first, and each drain late.
            Thread.detachNewThread {
                while !isOver.value { pending.withValue { $0.popLast() }?() }
                hasEnded.signal()
            }
            exercise(
                ReadWriteCoordinator(
                    writesOn: ClosureContext(name: "late") { work in
                        pending.withValue { $0.append(work) }
                    }),
                each: 50)
            isOver.value = true
            hasEnded.wait()
        }
    }

    @Test(arguments: [false, true])
    func `Law 20: jobs that write and read back on every thread of a pool finish`(isBlocking: Bool)
        async
    {
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

    @Test func `Law 20: tasks that write and read back on every thread of their pool finish`() async
    {
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
