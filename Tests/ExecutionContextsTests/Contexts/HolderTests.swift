import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// A hold belongs to the job, task or thread that made it, and to no later one.
@Suite(.serialized, .patient)
struct HolderTests {
    static let hosts = [
        Subject("global") { .global }, Subject("pool") { .pool },
        Subject("own pool") { WorkerPool(width: 1) },
        Subject("blocking") { BlockingContext(limit: 1) },
        Subject("limited") { GlobalContext().limited(to: 1) },
        Subject("serial view") { GlobalContext().serial() },
        Subject("own serial queue") { .serial(named: "host") },
        Subject("a queue's context") { DispatchQueue(label: "host").context },
        Subject("own barrier queue") { .barrier(named: "host") },
        Subject("thread") { .thread(named: "host") },
        Subject("run loop thread") { .runLoopThread(named: "host") },
        Subject("operation queue") { OperationQueue().context },
        Subject("actor") { ActorContext(Host()) },
        Subject("task executor") { TaskExecutorContext(QueueExecutor()) },
    ]

    @Test(arguments: hosts)
    func `Law 3: no later job of the thread has the hold of a job that ended`(
        _ host: Subject
    ) async {
        await offThePool {
            let host = host.make().context
            let held = GlobalContext().serial(named: "held")
            let queue = SerialQueueContext(name: "held too")
            let kept = Kept()
            wait(for: host) {
                kept.keep(held.hold())
                kept.keep(queue.hold())
                #expect(held.isCurrent == true && queue.isCurrent == true)
                // What the job runs inline is a part of it.
                ImmediateContext().serial().execute {
                    #expect(held.isCurrent == true && queue.isCurrent == true)
                }
            }
            let faults = Box(0)
            for _ in 0..<200 {
                wait(for: host) {
                    if held.isCurrent == true || queue.isCurrent == true {
                        faults.withValue { $0 += 1 }
                    }
                }
            }
            #expect(faults.value == 0)
            kept.release()
            #expect(held.sync { 1 } + queue.sync { 1 } == 2)
        }
    }

    /// Those that run one job at a time, in order.
    private static let orderly = hosts.filter {
        !["global", "pool", "operation queue", "task executor"].contains($0.name)
    }

    @Test(arguments: orderly)
    func `Law 3: the next job does not have a hold that was made as a job's captures were freed`(
        _ host: Subject
    ) async {
        await offThePool {
            let host = host.make().context
            let held = GlobalContext().serial(named: "held")
            let (kept, answer) = (Kept(), Box<Bool?>(nil))
            // All three are queued before the first one ends, so one thread may run them in turn.
            let (mayEnd, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            host.execute { mayEnd.wait() }
            do {
                let last = HoldsAtEnd(held, kept)
                host.execute { withExtendedLifetime(last) {} }
            }
            host.execute {
                answer.value = held.isCurrent
                hasEnded.signal()
            }
            mayEnd.signal()
            hasEnded.wait()
            #expect(answer.value == false)
            kept.release()
        }
    }

    @Test
    func `Law 3: a thread or task that ends while it holds does not leave its hold to another`()
        async
    {
        let held = GlobalContext().serial(named: "held")
        let kept = Kept()
        for _ in 0..<20 {
            await Task.detached { kept.keep(held.hold()) }.value
            // A task at the address of the ended one would pass for the holder.
            for _ in 0..<50 { #expect(await Task.detached { held.isCurrent }.value == false) }
            kept.release()
        }
        await offThePool {
            for _ in 0..<20 {
                onThreads(1) { kept.keep(held.hold()) }
                // A thread with the record of the ended one would pass for the holder.
                for _ in 0..<20 { onThreads(1) { #expect(held.isCurrent == false) } }
                kept.release()
            }
        }
    }

    @Test
    func `Laws 4, 28: two holds of the main context end with the last release, in either order`()
        async
    {
        await offThePool {
            for order in [[0, 1], [1, 0]] {
                let kept = [Kept(), Kept()]
                for kept in kept { kept.keep(MainContext().hold()) }
                kept[order[0]].release()
                #expect(MainContext().isCurrent == true)
                let entered = Box(false)
                DispatchQueue(label: "another").async {
                    MainContext().sync { entered.value = true }
                }
                onThreads(2) { _ in GlobalContext().serial().sync {} }
                #expect(!entered.value)
                kept[order[1]].release()
                #expect(MainContext().isCurrent == nil)
                #expect(MainContext().sync { 1 } == 1)
            }
        }
    }

    /// The ways in which a hold of the main context can end, or not begin.
    private static let endings: [@Sendable () -> Void] = [
        { MainContext().hold().release() },
        { withExtendedLifetime(MainContext().hold()) {} },
        {
            let kept = Kept()
            kept.keep(MainContext().hold())
            onThreads(1) { kept.release() }
        },
        {
            let kept = Kept()
            onThreads(1) { kept.keep(MainContext().hold()) }
            kept.release()
        },
        { Transaction(on: MainContext()).exclusively {} },
        { Transaction(queue: .main).exclusively { _ = Transaction(queue: .main).read(1) } },
        { TransactionWrapper(wrappedValue: 0, on: MainContext()).wrappedValue += 1 },
        {
            let property = TransactionWrapper(wrappedValue: 0, queue: .main)
            try? fail(&property.wrappedValue)
            property.wrappedValue = 2
            property.mutate { $0 += 1 }
        },
        { MainContext().serial().hold().release() },
        { ReadWriteCoordinator(over: MainContext()).writing.hold().release() },
        {
            // A hold from inside the context's own job holds nothing.
            let kept = Kept()
            MainContext().sync { kept.keep(MainContext().hold()) }
            kept.release()
        },
    ]

    @Test(arguments: endings.indices)
    func `Laws 4, 28: once a hold of the main context has ended, its thread and task are outside`(
        _ index: Int
    ) async {
        let end = Self.endings[index]
        let faults = Box(0)
        @Sendable func look() {
            if MainContext().isCurrent == true { faults.withValue { $0 += 1 } }
        }
        // On a new thread, on an existing one, in a job and in a task. A later thread or task may
        // reuse the identity by which the library knew the holder.
        await offThePool {
            onThreads([
                {
                    end()
                    look()
                }
            ])
            end()
            look()
            wait(for: GlobalContext()) {
                end()
                look()
            }
            for _ in 0..<20 { onThreads([look]) }
            for _ in 0..<200 { wait(for: DispatchQueue.global().context, look) }
        }
        await Task.detached {
            end()
            look()
        }.value
        for _ in 0..<50 { await Task.detached { look() }.value }
        #expect(faults.value == 0)
    }

    @Test
    func `Laws 28, 29: increments of a property on the main context from many threads all count`()
        async
    {
        await offThePool {
            let property = TransactionWrapper(wrappedValue: 0, on: MainContext())
            onThreads(4) { _ in for _ in 0..<200 { property.wrappedValue += 1 } }
            #expect(property.wrappedValue == 800)
        }
    }
}

/// An in-place access that throws.
private func fail(_ value: inout Int) throws {
    value = 1
    throw CancellationError()
}

/// Runs a job and returns when it has ended. Needs a thread that may block.
private func wait(for context: some ExecutionContext, _ job: @escaping Work) {
    let end = DispatchSemaphore(value: 0)
    context.execute {
        job()
        end.signal()
    }
    end.wait()
}

/// Takes a hold when it is freed.
private final class HoldsAtEnd: Sendable {
    private let view: SerialView
    private let kept: Kept

    init(_ view: SerialView, _ kept: Kept) { (self.view, self.kept) = (view, kept) }

    deinit { kept.keep(view.hold()) }
}
