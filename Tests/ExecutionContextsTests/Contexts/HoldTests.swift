import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Holding a context exclusively, without a closure.
@Suite(.patient)
struct HoldTests {
    static let subjects =
        ExclusiveSubject.all + [
            ExclusiveSubject("serial, with the default hold") { PlainSerialContext() }
        ]

    @Test(arguments: subjects)
    func `Law 3: holds and barriers exclude each other, whichever thread releases the hold`(
        _ subject: ExclusiveSubject
    ) async {
        await offThePool {
            let context = subject.make()
            let counter = Counter()
            let releaser = DispatchQueue(label: "releaser")
            onThreads(4) { thread in
                for index in 0..<500 {
                    if (index + thread).isMultiple(of: 3) {
                        context.syncBarrier { counter.add() }
                    } else if index.isMultiple(of: 2) {
                        let hold = context.hold()
                        counter.add()
                        hold.release()
                    } else {
                        // The holder waits: the other thread acts for it.
                        let hold = Movable(context.hold())
                        let done = DispatchSemaphore(value: 0)
                        releaser.async {
                            counter.add()
                            hold.release()
                            done.signal()
                        }
                        done.wait()
                    }
                    if index.isMultiple(of: 50) { context.executeBarrier { counter.add() } }
                }
            }
            #expect(context.syncBarrier { counter.value } == 4 * 510)
        }
    }

    /// A view takes its jobs by the batch: while a batch runs, the mailbox is empty.
    @Test func `Law 3: a hold waits for the jobs that a view has taken already`() async {
        await offThePool {
            let view = ClosureContext { job in DispatchQueue.global().async(execute: job) }.serial()
            let counter = Counter()
            let rounds = rounds(debug: 100, release: 1_000)
            let done = DispatchSemaphore(value: 0)
            for _ in 0..<rounds {
                // All twenty are one batch: the drain runs another job while they are submitted.
                let (isRunning, mayBegin) = (
                    DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
                )
                view.execute { mayBegin.wait() }
                for index in 0..<20 {
                    view.execute {
                        counter.add()
                        if index == 3 { isRunning.signal() }
                        let end = ContinuousClock.now + .microseconds(20)
                        while ContinuousClock.now < end {}
                        if index == 19 { done.signal() }
                    }
                }
                mayBegin.signal()
                isRunning.wait()
                let hold = view.hold()
                counter.add()
                hold.release()
                done.wait()
            }
            #expect(view.sync { counter.value } == rounds * 21)
        }
    }

    @Test(arguments: subjects)
    func `Law 3: a hold starts after the jobs before it, and later jobs start after its release`(
        _ subject: ExclusiveSubject
    ) async {
        await offThePool {
            let context = subject.make()
            let log = Box<[Int]>([])
            let done = DispatchSemaphore(value: 0)
            for index in 0..<50 { context.executeBarrier { log.withValue { $0.append(index) } } }
            let hold = context.hold()
            #expect(log.value == Array(0..<50))
            for index in 50..<100 { context.executeBarrier { log.withValue { $0.append(index) } } }
            context.executeBarrier { done.signal() }
            // Gives the barriers time to run, if they could.
            onThreads(2) { _ in GlobalContext().serial().sync {} }
            #expect(log.value.count == 50)
            hold.release()
            done.wait()
            #expect(log.value == Array(0..<100))
        }
    }

    @Test(arguments: ExclusiveSubject.all)
    func `Laws 3, 4: the holder of a context may use it and hold it again`(
        _ subject: ExclusiveSubject
    ) async {
        await offThePool {
            let context = subject.make()
            let first = context.hold()
            context.preconditionIsCurrent()
            let second = context.hold()
            #expect(context.sync { context.syncBarrier { context.sync { 1 } } } == 1)
            let entered = Box(false)
            let done = DispatchSemaphore(value: 0)
            DispatchQueue(label: "another").async {
                context.syncBarrier { entered.value = true }
                done.signal()
            }
            // Holds may be released in any order.
            first.release()
            onThreads(2) { _ in GlobalContext().serial().sync {} }
            #expect(!entered.value)
            #expect(context.syncBarrier { 2 } == 2)
            second.release()
            done.wait()
            #expect(entered.value)
            #expect(context.sync { 3 } == 3)
        }
    }

    @Test(arguments: ExclusiveSubject.all)
    func `Law 3: a hold from inside an exclusive job changes nothing`(_ subject: ExclusiveSubject)
        async
    {
        await offThePool {
            let context = subject.make()
            let done = DispatchSemaphore(value: 0)
            context.executeBarrier {
                context.hold().release()
                let hold = context.hold()
                context.syncBarrier {}
                hold.release()
                done.signal()
            }
            done.wait()
            context.syncBarrier { context.hold().release() }
            #expect(context.syncBarrier { 1 } == 1)
        }
    }

    @Test(arguments: ExclusiveSubject.all)
    func `Laws 3, 4: a task keeps its hold across an await, and the thread that it left has none`(
        _ subject: ExclusiveSubject
    ) async {
        let context = subject.make()
        let host = Host()
        let hold = context.hold()
        #expect(context.isCurrent == true)
        // Neither the thread that the task leaves nor any other thread is the holder.
        #expect(await Task.detached { context.isCurrent }.value != true)
        await host.visit()
        #expect(context.isCurrent == true)
        #expect(context.sync { 1 } == 1)
        hold.release()
        #expect(context.isCurrent != true)
    }

    @Test
    func `Law 3: another thread can hold the main context, which continues after the release`()
        async
    {
        await offThePool {
            let context = MainContext()
            let log = Box<[Int]>([])
            let hold = context.hold()
            #expect(context.isCurrent == true)
            let nested = context.hold()
            let done = DispatchSemaphore(value: 0)
            DispatchQueue.main.async {
                log.withValue { $0.append(2) }
                done.signal()
            }
            log.withValue { $0.append(1) }
            nested.release()
            hold.release()
            done.wait()
            #expect(log.value == [1, 2])
        }
        await MainActor.run { MainContext().hold().release() }
    }

    @Test func `Law 8: an observer sees a hold as one job`() async {
        await offThePool {
            let observer = CountingObserver()
            let context = SerialQueueContext(name: "observed").observed(by: observer)
            let hold = context.hold()
            #expect(observer.finishedCount.value == 0)
            hold.release()
            context.syncBarrier {}
            #expect(observer.finishedCount.value == 2)
        }
    }

    @Test func `Law 3: a hold from inside a job that is not exclusive traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = BarrierQueueContext(name: "cache")
            context.sync { DispatchQueue(label: "other").sync { context.hold().release() } }
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains("'cache'") && output.contains("law 3"), "\(output)")
    }

    @Test func `Law 1: a hold of a context that drops its jobs traps and does not hang`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            DroppingContext().hold().release()
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains("'dropping'") && output.contains("law 1"), "\(output)")
    }
}

extension Host {
    func visit() {}
}

/// A number that stays right only under exclusive access, which the thread sanitizer checks.
private final class Counter: @unchecked Sendable {
    // Unchecked: that is what is tested.
    private(set) var value = 0
    func add() { value += 1 }
}

/// A hold on its way to another thread.
private final class Movable: @unchecked Sendable {
    // Unchecked: made on one thread and emptied on the other.
    private var hold: ExclusiveHold?
    init(_ hold: consuming ExclusiveHold) { self.hold = consume hold }
    func release() { hold.take()?.release() }
}

private final class CountingObserver: ContextObserver {
    let finishedCount = Box(0)
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {
        finishedCount.withValue { $0 += 1 }
    }
}

/// A user's own serial context that keeps every default implementation.
private struct PlainSerialContext: SerialContext, SynchronousBarrierContext {
    private let queue = DispatchQueue(label: "plain")
    func execute(_ work: @escaping Work) { queue.async(execute: work) }
    func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        try queue.sync { Result(catching: body) }.get()
    }
}

private struct DroppingContext: SerialContext, SynchronousBarrierContext {
    var name: String { "dropping" }
    func execute(_ work: @escaping Work) {}
    func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        try body()
    }
}
