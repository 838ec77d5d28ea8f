import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Holding a context exclusively, without a closure.
@Suite(.timeLimit(.minutes(30)))
struct HoldTests {
    static let subjects =
        ExclusiveSubject.all + [ExclusiveSubject("serial, with the default hold") { PlainSerialContext() }]

    @Test(arguments: subjects)
    func `Law 3: holds and barriers exclude each other, whichever thread the release comes on`(
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
                        // The one who holds waits: the other thread acts for it.
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

    /// The view takes its jobs from its queue by the batch, and the queue is empty while a batch runs.
    @Test func `Law 3: a hold waits for the jobs that a view has taken already`() async {
        await offThePool {
            let view = ClosureContext { job in DispatchQueue.global().async(execute: job) }.serial()
            let counter = Counter()
            let rounds = rounds(debug: 100, release: 1_000)
            let done = DispatchSemaphore(value: 0)
            for _ in 0..<rounds {
                // All twenty are one batch: they are submitted while the drain runs the job before them.
                let (isRunning, mayBegin) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
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
    func `Law 3: a hold waits for what was submitted before, and what is submitted meanwhile for its release`(
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
            // A way for it to run, if it could.
            onThreads(2) { _ in GlobalContext().serial().sync {} }
            #expect(log.value.count == 50)
            hold.release()
            done.wait()
            #expect(log.value == Array(0..<100))
        }
    }

    @Test(arguments: ExclusiveSubject.all)
    func `Laws 3, 4: who holds a context may use it, and hold it again`(_ subject: ExclusiveSubject) async {
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
            // The first to be released need not be the last to be made.
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
    func `Law 3: from inside exclusive work a hold is nothing more`(_ subject: ExclusiveSubject) async {
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
    func `Laws 3, 4: a task holds across an await, and the thread that it left does not`(
        _ subject: ExclusiveSubject
    ) async {
        let context = subject.make()
        let host = Host()
        let hold = context.hold()
        #expect(context.isCurrent == true)
        // The thread that the task leaves, and any other one, is not the holder.
        #expect(await Task.detached { context.isCurrent }.value != true)
        await host.visit()
        #expect(context.isCurrent == true)
        #expect(context.sync { 1 } == 1)
        hold.release()
        #expect(context.isCurrent != true)
    }

    @Test func `Law 3: the main context is held from elsewhere, and goes on after the release`() async {
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

    @Test func `Law 8: an observer sees a hold as one piece of work`() async {
        await offThePool {
            let observer = CountingObserver()
            let view = SerialQueueContext(label: "observed").observed(by: observer)
            guard let context = view as? any SynchronousBarrierContext else { return }
            let hold = context.hold()
            #expect(observer.finishedCount.value == 0)
            hold.release()
            context.syncBarrier {}
            #expect(observer.finishedCount.value == 2)
        }
    }

    @Test func `Law 3: work that is not exclusive cannot hold, and is told so`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = BarrierQueueContext(label: "cache")
            context.sync { DispatchQueue(label: "other").sync { context.hold().release() } }
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains("'cache'") && output.contains("law 3"), "\(output)")
    }

    @Test func `Law 1: a hold on a context that loses work stops the program, it does not hang`() async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            LosingContext().hold().release()
        }
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(output.contains("'losing'") && output.contains("law 1"), "\(output)")
    }
}

extension Host {
    func visit() {}
}

/// A number that only exclusive access keeps right, which the thread sanitizer checks.
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
    func finished(_ piece: ObservedWork, waited: Duration, ran: Duration) {
        finishedCount.withValue { $0 += 1 }
    }
}

/// A serial context of somebody's own, with the default of everything.
private struct PlainSerialContext: SerialContext, SynchronousBarrierContext {
    private let queue = DispatchQueue(label: "plain")
    func execute(_ work: @escaping Work) { queue.async(execute: work) }
    func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        try queue.sync { Result(catching: body) }.get()
    }
}

private struct LosingContext: SerialContext, SynchronousBarrierContext {
    var name: String { "losing" }
    func execute(_ work: @escaping Work) {}
    func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        try body()
    }
}
