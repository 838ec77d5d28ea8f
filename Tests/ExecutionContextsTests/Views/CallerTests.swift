import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// A `sync` body keeps its caller, on whichever thread it runs: it is inside of the caller's views,
/// sections, reads, writes and holds.
@Suite(.patient)
struct CallerTests {
    /// Contexts whose `sync` needs another thread: to run its body, or to give the caller a turn.
    static let ways: [ExclusiveSubject] = [
        ExclusiveSubject("a closure's view") {
            ClosureContext { DispatchQueue.global().async(execute: $0) }.serial()
        },
        ExclusiveSubject("a queue's view") { SerialQueueContext(name: "far").serial() },
        ExclusiveSubject("a thread's view") { ThreadContext(name: "far").serial() },
        ExclusiveSubject("a limited view's view") { GlobalContext().limited(to: 2).serial() },
        ExclusiveSubject("a view's view") { GlobalContext().serial().serial() },
        ExclusiveSubject("the main context") { MainContext() },
    ]

    @Test(arguments: ways)
    func `Laws 4, 14, 18, 28: the body is inside of everything that its caller is inside of`(
        _ way: ExclusiveSubject
    ) async {
        await watched {
            let way = way.make()
            let inner = ThreadContext(name: "inner").serial()
            let section = CriticalSection()
            let coordinator = ReadWriteCoordinator()
            let held = GlobalContext().serial(named: "held")
            let queue = SerialQueueContext(name: "queue")
            let resource = LockedResource(0, lockedBy: .section)
            let hold = held.hold()
            let ran = Box(false)
            queue.sync {
                section.execute {
                    coordinator.read {
                        resource.read { _ in
                            way.sync {
                                inner.sync {
                                    #expect(
                                        section.isCurrent == true
                                            && coordinator.reading.isCurrent == true)
                                    #expect(
                                        held.isCurrent == true && queue.isCurrent == true)
                                    section.execute {}
                                    #expect(section.execute(timeout: .zero) { 1 } == 1)
                                    coordinator.read {}
                                    held.sync { held.hold().release() }
                                    queue.sync {}
                                    resource.read { _ in }
                                    ran.value = true
                                    // The body belongs to the main context but runs on another
                                    // thread, so the answer is "not known".
                                    if way is MainContext { return #expect(way.isCurrent == nil) }
                                    #expect(way.isCurrent == true)
                                    way.sync {}
                                }
                            }
                        }
                    }
                }
            }
            #expect(ran.value)
            coordinator.blockingWrite {
                way.sync { coordinator.blockingWrite { coordinator.read {} } }
            }
            hold.release()
            #expect(section.isCurrent == false && held.isCurrent == false)
            // All of them are free again, as if one thread had done everything.
            onThreads(1) {
                section.execute {}
                coordinator.blockingWrite {}
                held.sync {}
            }
        }
    }

    @Test(arguments: ways)
    func `Law 3: a task's hold is its sync body's hold, too, though the body runs outside the task`(
        _ way: ExclusiveSubject
    ) async {
        let way = way.make()
        let held = GlobalContext().serial(named: "held")
        await Task.detached {
            let hold = held.hold()
            way.sync {
                #expect(held.isCurrent == true)
                held.sync {}
            }
            hold.release()
        }.value
        #expect(held.isCurrent == false)
    }

    @Test
    func `Law 4: a sync body is on the queue whose job waits for it, and jobs beside it are not`()
        async
    {
        await watched {
            let queue = SerialQueueContext(name: "queue")
            let way = ThreadContext(name: "far").serial()
            let done = DispatchSemaphore(value: 0)
            // One job is submitted to the context, the other one to its Dispatch queue.
            for submit in [{ queue.execute($0) }, { queue.queue.async(execute: $0) }]
                as [(@escaping Work) -> Void]
            {
                submit {
                    let mayContinue = DispatchSemaphore(value: 0)
                    way.sync {
                        DispatchQueue.global().async {
                            #expect(queue.isCurrent == nil)
                            mayContinue.signal()
                        }
                        mayContinue.wait()
                        #expect(queue.isCurrent == true)
                        queue.sync {}
                    }
                    done.signal()
                }
                done.wait()
            }
        }
    }

    @Test func `Law 4: a thread's context does not know whether a body on another thread is on it`()
        async
    {
        await watched {
            let thread = ThreadContext(name: "thread")
            let way = ThreadContext(name: "far").serial()
            let done = DispatchSemaphore(value: 0)
            thread.execute {
                way.sync {
                    #expect(thread.isCurrent == nil)
                    thread.preconditionIsCurrent()
                }
                #expect(thread.isCurrent == true)
                done.signal()
            }
            done.wait()
        }
    }

    @Test func `Laws 21, 23: thread-local values are those of the thread that runs the body`() async
    {
        await watched {
            let way = ThreadContext(name: "far").serial()
            let local = ThreadLocalValue<Int>()
            local.set(1)
            way.sync {
                #expect(local.cachedValue() == nil)
                local.set(2)
            }
            #expect(local.cachedValue() == 1)
            #expect(way.sync { local.cachedValue() } == 2)
        }
    }

    @Test func `Law 15: a time limit does not run out if the caller is already inside`() async {
        await watched {
            let context = GlobalContext().serial(named: "base")
            let over = ReadWriteCoordinator(over: context)
            let section = CriticalSection()
            let inside = section.execute {
                over.read(timeout: Patience.event) { section.execute(timeout: .zero) { 1 } }
            }
            #expect(inside == .some(.some(1)))
        }
    }
}
