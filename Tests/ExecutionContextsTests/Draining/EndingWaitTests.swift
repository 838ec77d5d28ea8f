import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// The allowed neighbours of what `EndlessPlaceTests` traps: a place is free, or will be (law 27).
@Suite(.timeLimit(.minutes(30)))
struct EndingWaitTests {
    @Test func `Law 27: a wait beside a read, and within another coordinator's, ends`() async {
        await watched {
            let store = ReadWriteCoordinator(name: "store")
            let other = ReadWriteCoordinator(name: "other")
            let base = BarrierQueueContext(label: "base")
            let over = ReadWriteCoordinator(over: base)
            #expect(store.writing.serial().sync { 1 } == 1)
            #expect(over.writing.serial().sync { 2 } == 2)
            #expect(other.read { store.writing.serial().sync { 3 } } == 3)
            #expect(other.read { over.writing.serial().sync { 4 } } == 4)
            #expect(store.read { store.reading.serial().sync { 5 } } == 5)
        }
    }

    @Test func `Law 27: a wait inside a job of a carrier whose writes a reader may run ends`() async {
        await watched {
            let carrier = BlockingContext(limit: 1)
            let store = ReadWriteCoordinator(carrier: carrier)
            let done = DispatchSemaphore(value: 0)
            carrier.execute {
                store.writing.serial().sync {}
                done.signal()
            }
            while done.wait(timeout: .now()) != .success { store.read {} }
        }
    }

    @Test func `Law 27: a wait where a place or a thread is left ends`() async {
        await watched {
            let done = DispatchSemaphore(value: 0)
            let limited = ImmediateContext().limited(to: 3)
            limited.execute { limited.execute { limited.serial().sync { _ = done.signal() } } }
            done.wait()
            let barrier = ImmediateContext().barrier()
            barrier.execute { barrier.execute { barrier.serial().sync { _ = done.signal() } } }
            done.wait()
            let files = BlockingContext(limit: 2)
            let workers = WorkerPool(width: 1, limit: 2)
            for base in [files, workers] as [any ExecutionContext] {
                base.execute {
                    base.limited(to: 1).serial().sync {}
                    base.bounded(5, overflow: .refuse).serial().sync {}
                    done.signal()
                }
                done.wait()
            }
            // A thread that waits for the view's turn runs it itself.
            let (one, lone) = (BlockingContext(limit: 1), WorkerPool(width: 1, limit: 1))
            for base in [one, lone] as [any ExecutionContext] {
                base.execute {
                    let view = base.serial()
                    view.execute {}
                    view.sync { _ = done.signal() }
                }
                done.wait()
            }
        }
    }

    @Test func `Law 27: a view over a view that a waiting thread may serve is waited for`() async {
        await watched {
            let files = BlockingContext(limit: 1)
            let below = files.serial()
            let isWaiting = DispatchSemaphore(value: 0)
            let done = DispatchSemaphore(value: 0)
            files.execute {
                isWaiting.signal()
                below.serial().sync {}
                done.signal()
            }
            isWaiting.wait()
            // It may come before the other submits, and then it has nothing to run.
            while done.wait(timeout: .now() + .milliseconds(1)) != .success { below.sync {} }
        }
    }

    @Test(arguments: 0..<4)
    func `Law 27: one whose wait is over keeps nobody, though it has not been woken`(_ kind: Int) async {
        await watched {
            for _ in 0..<rounds(debug: 300, release: 3_000) {
                let base: any ExecutionContext =
                    switch kind {
                    case 0: GlobalContext().limited(to: 2)
                    case 1: PoolContext().limited(to: 2)
                    case 2: BlockingContext(limit: 2)
                    default: WorkerPool(width: 2, limit: 2)
                    }
                let places = base.limited(to: 2)
                let done = DispatchSemaphore(value: 0)
                // While the first is not woken yet, the thread that ran its wait begins the next.
                places.execute {
                    places.serial().sync {
                        places.execute {
                            places.serial().sync {}
                            done.signal()
                        }
                    }
                    done.signal()
                }
                done.wait()
                done.wait()
            }
        }
    }

    @Test func `Law 27: a wait within an operation ends where another one may run`() async {
        await watched {
            let queue = OperationQueue()
            let done = DispatchSemaphore(value: 0)
            for limit in [2, OperationQueue.defaultMaxConcurrentOperationCount] {
                queue.maxConcurrentOperationCount = limit
                queue.context.execute {
                    queue.context.serial().sync {}
                    done.signal()
                }
                done.wait()
            }
            let single = OperationQueue()
            single.maxConcurrentOperationCount = 1
            queue.context.execute {
                single.context.serial().sync {}
                done.signal()
            }
            done.wait()
            single.context.execute {
                single.maxConcurrentOperationCount = 2
                single.context.serial().sync {}
                done.signal()
            }
            done.wait()
        }
    }

    @Test func `Law 27: a wait for a queue whose target is free, concurrent or its own ends`() async {
        await watched {
            let below = SerialQueueContext(label: "below")
            let above = SerialQueueContext(label: "above", target: below.queue)
            let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let beside = SerialQueueContext(label: "beside", target: concurrent)
            let onGlobal = SerialQueueContext(label: "on global", target: .global())
            let done = DispatchSemaphore(value: 0)
            #expect(above.sync { 1 } == 1)
            #expect(above.sync { above.sync { 2 } } == 2)
            let nested: Int = above.sync { below.sync { 3 } }
            #expect(nested == 3)
            above.hold().release()
            concurrent.context.execute {
                beside.serial().sync {}
                beside.sync {}
                done.signal()
            }
            done.wait()
            GlobalContext().execute {
                onGlobal.serial().sync {}
                onGlobal.sync {}
                done.signal()
            }
            done.wait()
            let hold = above.hold()
            above.sync {}
            hold.release()
            above.serial().sync {}
        }
    }

    @Test func `Law 27: a wait for work in a section ends where the caller is not inside, or runs it`() async
    {
        await watched {
            let (section, other) = (CriticalSection(), CriticalSection())
            let manual = ManualContext()
            #expect(GlobalContext().exclusive(section).serial().sync { 1 } == 1)
            #expect(other.execute { GlobalContext().exclusive(section).serial().sync { 2 } } == 2)
            #expect(section.execute { manual.exclusive(section).serial().sync { 3 } } == 3)
            #expect(section.execute { ImmediateContext().exclusive(section).serial().sync { 4 } } == 4)
        }
    }
}
