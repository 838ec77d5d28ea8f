import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Laws 19 and 10: what becomes of a coordinator's work when the coordinator goes, and when the work is done.
@Suite(.timeLimit(.minutes(30)))
struct ReadWriteLifetimeTests {
    @Test func `Law 19: writes that wait when the coordinator goes run, in order`() async {
        let log = Box<[Int]>([])
        let carrier = ManualContext()
        weak var gone: ReadWriteCoordinator?
        do {
            let coordinator = ReadWriteCoordinator(carrier: carrier)
            gone = coordinator
            for index in 0..<600 { coordinator.enqueueWrite { log.withValue { $0.append(index) } } }
        }
        #expect(gone == nil)
        #expect(log.value.isEmpty)
        carrier.runReady()
        #expect(log.value == Array(0..<600))
    }

    @Test func `Law 19: enqueued reads that wait when the coordinator goes run after the writes`() async {
        let log = Box<[Int]>([])
        let carrier = ManualContext()
        await watched {
            let end = DispatchSemaphore(value: 0)
            do {
                let coordinator = ReadWriteCoordinator(carrier: carrier)
                coordinator.enqueueWrite { log.withValue { $0.append(1) } }
                coordinator.reading.enqueue {
                    log.withValue { $0.append(2) }
                    end.signal()
                }
            }
            carrier.runReady()
            end.wait()
        }
        #expect(log.value == [1, 2])
    }

    @Test(arguments: [false, true])
    func `Law 19: a coordinator that goes inside a read is whole until it ends`(byClaim: Bool) async {
        await watched {
            for _ in 0..<200 {
                let count = Box(0)
                let end = DispatchSemaphore(value: 0)
                let holder = Box<ReadWriteCoordinator?>(ReadWriteCoordinator())
                if byClaim { holder.value?.bringBias() }
                holder.value?.read {
                    holder.value?.enqueueWrite { count.withValue { $0 += 1 } }
                    holder.value?.enqueueWrite { end.signal() }
                    holder.value = nil
                    #expect(count.value == 0)
                }
                end.wait()
                #expect(count.value == 1)
            }
        }
    }

    @Test func `Law 19: a coordinator that goes inside a write of it runs the ones behind`() async {
        await watched {
            let end = DispatchSemaphore(value: 0)
            let holder = Box<ReadWriteCoordinator?>(ReadWriteCoordinator())
            let coordinator = holder.value!
            coordinator.enqueueWrite {
                holder.value?.enqueueWrite { end.signal() }
                holder.value = nil
            }
            end.wait()
        }
    }

    @Test func `Law 10: what a write holds is freed right after it, before the next one`() {
        let alive = Box(0)
        let carrier = ManualContext()
        let coordinator = ReadWriteCoordinator(carrier: carrier)
        let seen = Box<[Int]>([])
        for _ in 0..<300 {
            let guest = Guest(alive)
            coordinator.enqueueWrite {
                _ = guest
                seen.withValue { $0.append(alive.value) }
            }
        }
        carrier.runReady()
        #expect(seen.value == Array((1...300).reversed()))
        #expect(alive.value == 0)
    }

    @Test func `Law 10: what a helper's writes hold is freed before it reads`() async {
        await watched {
            let alive = Box(0)
            let coordinator = ReadWriteCoordinator(carrier: .immediate)
            for _ in 0..<300 {
                coordinator.read {
                    let guest = Guest(alive)
                    coordinator.enqueueWrite { _ = guest }
                }
                #expect(coordinator.read { alive.value } == 0)
            }
        }
    }

    @Test func `Law 10: a coordinator frees its carrier and whatever it was given`() async {
        weak var carrier: ManualContext?
        weak var capture: Box<Int>?
        do {
            let context = ManualContext()
            let box = Box(0)
            (carrier, capture) = (context, box)
            let coordinator = ReadWriteCoordinator(carrier: context)
            coordinator.enqueueWrite { box.value += 1 }
            coordinator.reading.enqueue { box.value += 1 }
            context.runReady()
            await offThePool { coordinator.blockingWrite { box.value += 1 } }
            #expect(box.value == 3)
        }
        // The read without a thread ran on the pool, which may take a moment to let go of its turn.
        while carrier != nil || capture != nil { await Task.yield() }
    }

    @Test func `Law 9: a coordinator may be used from the deinit of what a write or a read held`() async {
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

/// Counts itself as long as it lives.
private final class Guest: Sendable {
    private let alive: Box<Int>
    init(_ alive: Box<Int>) {
        self.alive = alive
        alive.withValue { $0 += 1 }
    }
    deinit { alive.withValue { $0 -= 1 } }
}
