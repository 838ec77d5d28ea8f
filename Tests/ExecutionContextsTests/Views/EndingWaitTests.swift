import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The allowed neighbours of the waits in `EndlessResourceTests`: the resource is free, or will be
/// (law 27).
@Suite(.patient)
struct EndingWaitTests {
    @Test func `Law 27: a wait beside a read, or inside another coordinator's read, ends`() async {
        await watched {
            let store = ReadWriteCoordinator(name: "store")
            let other = ReadWriteCoordinator(name: "other")
            let base = BarrierQueueContext(name: "base")
            let over = ReadWriteCoordinator(over: base)
            #expect(store.writing.serial().sync { 1 } == 1)
            #expect(over.writing.serial().sync { 2 } == 2)
            #expect(other.read { store.writing.serial().sync { 3 } } == 3)
            #expect(other.read { over.writing.serial().sync { 4 } } == 4)
            #expect(store.read { store.reading.serial().sync { 5 } } == 5)
        }
    }

    @Test
    func `Law 27: a wait inside a job of the write context ends if a reader may run the writes`()
        async
    {
        await watched {
            let writeContext = BlockingContext(limit: 1)
            let store = ReadWriteCoordinator(writesOn: writeContext)
            let done = DispatchSemaphore(value: 0)
            writeContext.execute {
                store.writing.serial().sync {}
                done.signal()
            }
            while done.wait(timeout: .now()) != .success { store.read {} }
        }
    }

    @Test func `Law 27: a wait ends if a permit or a thread is left`() async {
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
                    base.bounded(to: 5, overflow: .refuse).serial().sync {}
                    done.signal()
                }
                done.wait()
            }
            // The thread that waits for the view's drain runs it itself.
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

    @Test func `Law 27: a wait for a view over a view ends if another waiting thread may drain it`()
        async
    {
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
            // This `sync` may come before the job submits its own. Then it has nothing to run.
            while done.wait(timeout: .now() + .milliseconds(1)) != .success { below.sync {} }
        }
    }

    @Test(arguments: 0..<4)
    func `Law 27: a waiter whose wait has ended holds no permit, even before it wakes`(_ kind: Int)
        async
    {
        await watched {
            for _ in 0..<rounds(debug: 300, release: 3_000) {
                let base: any ExecutionContext =
                    switch kind {
                    case 0: GlobalContext().limited(to: 2)
                    case 1: PoolContext().limited(to: 2)
                    case 2: BlockingContext(limit: 2)
                    default: WorkerPool(width: 2, limit: 2)
                    }
                let limited = base.limited(to: 2)
                let done = DispatchSemaphore(value: 0)
                // Before the first waiter wakes, the thread that ran its body begins the next wait.
                limited.execute {
                    limited.serial().sync {
                        limited.execute {
                            limited.serial().sync {}
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

    @Test func `Law 27: a wait inside an operation ends if another operation may run`() async {
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

    @Test
    func `Law 27: a wait for a queue ends if its target is free, concurrent or held by the queue`()
        async
    {
        await watched {
            let below = SerialQueueContext(name: "below")
            let above = SerialQueueContext(name: "above", target: below.queue)
            let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
            let beside = SerialQueueContext(name: "beside", target: concurrent)
            let onGlobal = SerialQueueContext(name: "on global", target: .global())
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

    @Test
    func `Law 27: a wait for a job in a section ends if the caller is outside, or runs the job`()
        async
    {
        await watched {
            let (section, other) = (CriticalSection(), CriticalSection())
            let manual = ManualContext()
            #expect(GlobalContext().exclusive(section).serial().sync { 1 } == 1)
            #expect(other.execute { GlobalContext().exclusive(section).serial().sync { 2 } } == 2)
            #expect(section.execute { manual.exclusive(section).serial().sync { 3 } } == 3)
            #expect(
                section.execute { ImmediateContext().exclusive(section).serial().sync { 4 } } == 4)
        }
    }
}
