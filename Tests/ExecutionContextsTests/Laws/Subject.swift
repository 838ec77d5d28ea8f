import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// A kind of context to test, made anew for each test.
struct Subject: Sendable, CustomTestStringConvertible {
    let name: String
    let make: @Sendable () -> Made

    struct Made {
        let context: any ExecutionContext
        /// Runs some of its jobs, where it runs none by itself.
        var drive: Work?
    }

    var testDescription: String { name }

    init(_ name: String, _ make: @escaping @Sendable () -> any ExecutionContext) {
        self.name = name
        self.make = { Made(context: make()) }
    }

    init(_ name: String, driven make: @escaping @Sendable () -> Made) {
        self.name = name
        self.make = make
    }

    /// This kind of context under a decorator, or nil where the two do not go together.
    func decorated(by decorator: Decorator) -> Subject? {
        // The answer depends only on the kind of the context.
        guard decorator.apply(make().context) != nil else { return nil }
        return Subject(
            "\(name), \(decorator.name)",
            driven: { [make] in
                let base = make()
                return Made(context: decorator.apply(base.context)!, drive: base.drive)
            })
    }
}

extension Subject {
    /// Every context that is not a view of another one.
    static let bases: [Subject] = [
        Subject("immediate") { .immediate },
        Subject("trampoline") { .trampoline },
        Subject("main") { .main },
        Subject("global") { .global },
        Subject("global of a quality") { .global(qos: .utility) },
        Subject("a concurrent queue's context") {
            DispatchQueue(label: "concurrent", attributes: .concurrent).context
        },
        Subject("a serial queue's context") { DispatchQueue(label: "plain").context },
        Subject("own serial queue") { .serial(named: "serial") },
        Subject("own barrier queue") { .barrier(named: "barrier") },
        Subject("operation queue") { OperationQueue().context },
        Subject("thread") { .thread(named: "own") },
        Subject("run loop thread") { .runLoopThread(named: "loop") },
        Subject("pool") { .pool },
        Subject("a pool of its own") { WorkerPool(width: 2) },
        Subject("an urgent share of a pool") { WorkerPool(width: 2).prioritized(.high) },
        Subject("ending serial") { EndingSerialContext(on: GlobalContext()) },
        Subject("blocking") { BlockingContext(limit: 4) },
        Subject("closure") { .closure { work in DispatchQueue.global().async(execute: work) } },
        Subject("actor") { ActorContext(Host()) },
        Subject("task executor") { TaskExecutorContext(QueueExecutor()) },
        Subject(
            "manual",
            driven: {
                let context = ManualContext()
                return Made(context: context, drive: { context.advance(by: .milliseconds(1)) })
            }),
    ]

    /// Every context, and every decorator over every context.
    static let all = bases + views

    /// Every pair of decorators, over an inline, a concurrent, a barrier and a serial context.
    static let viewsOfViews = ["immediate", "global", "own barrier queue", "own serial queue"]
        .flatMap {
            name in
            views.filter { $0.name.hasPrefix("\(name), ") }.flatMap { view in
                Decorator.all.compactMap { view.decorated(by: $0) }
            }
        }

    /// Every context; in debug builds every third view, in turn.
    static func some(_ turn: Int) -> [Subject] {
        bases + sample(views, every: 3, from: turn % 3)
    }

    static let views = bases.flatMap { base in Decorator.all.compactMap { base.decorated(by: $0) } }
}

/// An actor to run jobs on.
actor Host {}

/// A minimal task executor.
final class QueueExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        DispatchQueue.global().async { [self] in
            // Unsafe only if run twice; a queue runs a block once.
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
