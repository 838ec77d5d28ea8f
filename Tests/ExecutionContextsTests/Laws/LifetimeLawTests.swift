import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Law 10: pending jobs keep what they need alive, and the library keeps nothing else alive.
@Suite(.serialized, .patient)
struct LifetimeLawTests {
    /// The subjects that run their jobs by themselves.
    static let subjects = Subject.all.filter { $0.make().drive == nil }

    @Test(arguments: subjects)
    func `Law 10: jobs that are pending when the last reference is released run`(_ subject: Subject)
        async
    {
        await withCheckedContinuation { continuation in
            // The last closure to be freed resumes the test; each must have run by then.
            let end = Farewell { continuation.resume() }
            let runs = Box(0)
            let context = subject.make().context
            for _ in 0..<20 { context.execute { runs.withValue { $0 += 1 } } }
            context.schedule(after: .microseconds(100)) { runs.withValue { $0 += 1 } }
            context.schedule(after: .milliseconds(1)) { [end] in
                #expect(runs.value == 21 || !(context is any SerialContext))
                _ = end
            }
        }
    }

    @Test(arguments: Decorator.all, Decorator.all)
    func `Law 10: a used view is freed with its last reference, and then its base is freed`(
        _ inner: Decorator, _ outer: Decorator
    ) async {
        await withCheckedContinuation { continuation in
            let end = Farewell { continuation.resume() }
            let base = ClosureContext { [end] work in
                DispatchQueue.global().async {
                    _ = end
                    work()
                }
            }
            guard let view = inner.apply(base).flatMap({ outer.apply($0) }) else { return }
            view.execute {}
            view.submit {}.cancel()
            view.schedule(after: .seconds(3600), {}).cancel()
            view.schedule(at: .never, {})
            view.schedule(every: .seconds(3600), {}).cancel()
            _ = (view.taskExecutor, view.operationQueue, view.isCurrent)
            if let view = view as? any SynchronousContext {
                DispatchQueue.global().async { view.sync {} }
            }
        }
    }

    @Test func `Law 10: a thread ends when its context is freed and its jobs have run`() async {
        await withCheckedContinuation { continuation in
            let end = Farewell { continuation.resume() }
            let context = ThreadContext(name: "ends")
            // The values in a thread's dictionary are released when the thread ends.
            context.execute { Thread.current.threadDictionary["end"] = end }
        }
    }

    @Test func `Law 10: a run loop thread ends when its context is freed and its jobs have run`()
        async
    {
        await withCheckedContinuation { continuation in
            let end = Farewell { continuation.resume() }
            let context = RunLoopThreadContext(name: "ends")
            // The values in a thread's dictionary are released when the thread ends.
            context.execute { Thread.current.threadDictionary["end"] = end }
        }
    }

    @Test func `Law 10: the system's timer is freed when no delay is pending`() async {
        let time = SystemTime()
        #expect(time.isIdle)
        let context = Timed(time: time)
        await withCheckedContinuation { continuation in
            context.schedule(after: .milliseconds(1)) { continuation.resume() }
        }
        // The timer is released before the job is submitted.
        #expect(time.isIdle)
    }

    /// A context with a given time source.
    private struct Timed: ExecutionContext {
        let time: any TimeSource
        func execute(_ work: @escaping Work) { DispatchQueue.global().async(execute: work) }
    }
}

/// Calls a closure when it is freed.
final class Farewell: Sendable {
    private let action: Work
    init(_ action: @escaping Work) { self.action = action }
    deinit { action() }
}
