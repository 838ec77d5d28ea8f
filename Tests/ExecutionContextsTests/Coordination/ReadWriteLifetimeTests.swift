import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Laws 19 and 10: what a released coordinator still runs, and when its captures are freed.
@Suite(.patient)
struct ReadWriteLifetimeTests {
    @Test func `Law 19: the pending writes of a released coordinator run, in order`() async {
        let log = Box<[Int]>([])
        let writeContext = ManualContext()
        weak var released: ReadWriteCoordinator?
        do {
            let coordinator = ReadWriteCoordinator(writesOn: writeContext)
            released = coordinator
            for index in 0..<600 { coordinator.enqueueWrite { log.withValue { $0.append(index) } } }
        }
        #expect(released == nil)
        #expect(log.value.isEmpty)
        writeContext.runReady()
        #expect(log.value == Array(0..<600))
    }

    @Test func `Law 19: the enqueued reads of a released coordinator run after its writes`() async {
        let log = Box<[Int]>([])
        let writeContext = ManualContext()
        await watched {
            let end = DispatchSemaphore(value: 0)
            do {
                let coordinator = ReadWriteCoordinator(writesOn: writeContext)
                coordinator.enqueueWrite { log.withValue { $0.append(1) } }
                coordinator.reading.enqueue {
                    log.withValue { $0.append(2) }
                    end.signal()
                }
            }
            writeContext.runReady()
            end.wait()
        }
        #expect(log.value == [1, 2])
    }

    @Test(arguments: [false, true])
    func `Law 19: a coordinator released inside its read works until the read ends`(isBiased: Bool)
        async
    {
        await watched {
            for _ in 0..<200 {
                let count = Box(0)
                let end = DispatchSemaphore(value: 0)
                let reference = Box<ReadWriteCoordinator?>(ReadWriteCoordinator())
                if isBiased { reference.value?.bringBias() }
                reference.value?.read {
                    reference.value?.enqueueWrite { count.withValue { $0 += 1 } }
                    reference.value?.enqueueWrite { end.signal() }
                    reference.value = nil
                    #expect(count.value == 0)
                }
                end.wait()
                #expect(count.value == 1)
            }
        }
    }

    @Test func `Law 19: a coordinator released inside its write runs the writes behind it`() async {
        await watched {
            let end = DispatchSemaphore(value: 0)
            let reference = Box<ReadWriteCoordinator?>(ReadWriteCoordinator())
            let coordinator = reference.value!
            coordinator.enqueueWrite {
                reference.value?.enqueueWrite { end.signal() }
                reference.value = nil
            }
            end.wait()
        }
    }

    @Test func `Law 10: the captures of a write are freed right after it, before the next write`() {
        let alive = Box(0)
        let writeContext = ManualContext()
        let coordinator = ReadWriteCoordinator(writesOn: writeContext)
        let seen = Box<[Int]>([])
        for _ in 0..<300 {
            let counted = Counted(alive)
            coordinator.enqueueWrite {
                _ = counted
                seen.withValue { $0.append(alive.value) }
            }
        }
        writeContext.runReady()
        #expect(seen.value == Array((1...300).reversed()))
        #expect(alive.value == 0)
    }

    @Test
    func `Law 10: the captures of writes that a reader runs itself are freed before it reads`()
        async
    {
        await watched {
            let alive = Box(0)
            let coordinator = ReadWriteCoordinator(writesOn: .immediate)
            for _ in 0..<300 {
                coordinator.read {
                    let counted = Counted(alive)
                    coordinator.enqueueWrite { _ = counted }
                }
                #expect(coordinator.read { alive.value } == 0)
            }
        }
    }

    @Test func `Law 10: a coordinator releases its write context, and the captures of its jobs`()
        async
    {
        weak var writeContext: ManualContext?
        weak var capture: Box<Int>?
        do {
            let context = ManualContext()
            let box = Box(0)
            (writeContext, capture) = (context, box)
            let coordinator = ReadWriteCoordinator(writesOn: context)
            coordinator.enqueueWrite { box.value += 1 }
            coordinator.reading.enqueue { box.value += 1 }
            context.runReady()
            await offThePool { coordinator.blockingWrite { box.value += 1 } }
            #expect(box.value == 3)
        }
        // The enqueued read ran on the pool, which may release the job a moment later.
        while writeContext != nil || capture != nil { await Task.yield() }
    }

    @Test func `Law 9: the deinit of a capture of a write or a read may use the coordinator`() async
    {
        await watched {
            let coordinator = ReadWriteCoordinator()
            let end = DispatchSemaphore(value: 0)
            for _ in 0..<100 {
                let last = Farewell {
                    coordinator.enqueueWrite { end.signal() }
                    coordinator.reading.enqueue { end.signal() }
                }
                coordinator.enqueueWrite { _ = last }
                let other = Farewell { coordinator.enqueueWrite { end.signal() } }
                coordinator.reading.enqueue { _ = other }
            }
            for _ in 0..<300 { end.wait() }
        }
    }
}

/// Counts itself while it lives.
private final class Counted: Sendable {
    private let alive: Box<Int>
    init(_ alive: Box<Int>) {
        self.alive = alive
        alive.withValue { $0 += 1 }
    }
    deinit { alive.withValue { $0 -= 1 } }
}
