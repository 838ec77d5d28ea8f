import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// A base for `sync`, and which thread its jobs mean.
struct Placed: Sendable, CustomTestStringConvertible {
    enum Meant { case none, main, own }

    let subject: Subject
    let means: Meant

    var testDescription: String { subject.name }

    init(_ subject: Subject, means: Meant = .none) {
        self.subject = subject
        self.means = means
    }

    private init(_ name: String, means: Meant = .none, _ context: some ExecutionContext) {
        self.init(Subject(name) { context }, means: means)
    }

    static let bases =
        Subject.bases.map { subject in
            switch subject.name {
            case "main": Placed(subject, means: .main)
            case "thread", "run loop thread", "actor", "manual": Placed(subject, means: .own)
            default: Placed(subject)
            }
        } + more

    private static let more = [
        Placed("the main queue's context", means: .main, DispatchQueue.main.context),
        Placed("the main operation queue", means: .main, OperationQueue.main.context),
        Placed(
            "a closure to main", means: .main,
            ClosureContext { DispatchQueue.main.async(execute: $0) }),
        Placed(
            "a queue that targets main", means: .main,
            SerialQueueContext(name: "above", target: .main)),
        Placed(
            "a context that knows where it is", means: .own,
            ClosureContext(isCurrent: { false }) { DispatchQueue.global().async(execute: $0) }),
        Placed("a section", CriticalSection()),
        Placed("a writing side", ReadWriteCoordinator().writing),
        Placed("a reading side", ReadWriteCoordinator().reading),
        Placed(
            "a writing side over a queue",
            ReadWriteCoordinator(over: BarrierQueueContext(name: "over")).writing),
        Placed("inline", HostileBase(.inline, seed: 1)),
        Placed("moody", HostileBase(.moody, seed: 2)),
        Placed("delaying", HostileBase(.delaying, seed: 3)),
    ]
}

/// What calls `sync`.
enum Origin: CaseIterable {
    case main, actor, thread, queue, pool

    /// Calls `body` there, with a check that traps where the code is not isolated as its caller is.
    func call(_ body: @escaping @Sendable (_ isIsolated: () -> Void) -> Void) async {
        switch self {
        case .main: await MainActor.run { body { MainActor.preconditionIsolated() } }
        case .actor: await Calling().call(body)
        case .thread:
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    body {}
                    continuation.resume()
                }
            }
        case .queue: await Self.call(body, in: SerialQueueContext(name: "calling"))
        case .pool: await Self.call(body, in: WorkerPool(width: 1))
        }
    }

    private static func call(
        _ body: @escaping @Sendable (_ isIsolated: () -> Void) -> Void,
        in context: some ExecutionContext
    ) async {
        await withCheckedContinuation { continuation in
            context.execute {
                body {}
                continuation.resume()
            }
        }
    }
}

/// An actor whose methods may block.
private actor Calling {
    private let executor: any SerialExecutor = SerialQueueContext(name: "an actor's")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    func call(_ body: @Sendable (_ isIsolated: () -> Void) -> Void) {
        body { self.preconditionIsolated() }
    }
}

/// Calls of `sync` to a base under layers, and the faults that they show.
final class Visit: Sendable {
    let name: String
    private let context: any ExecutionContext
    private let means: Placed.Meant
    /// Whether each body runs on its caller.
    private let isOnCaller: Bool
    /// Whether a body is inside of the context below the view, as far as that is known.
    private let isInside: Bool
    /// Whether a job that the body submits to the context has to wait for the body.
    private let excludesJobs: Bool
    private let state = Box<[String]>([])

    init(to base: Placed, through layers: [Layer]) {
        context = layers.reduce(base.subject.make().context) { $1.apply(to: $0) }
        name = ([base.subject.name] + layers.map { "\($0)" }).joined(separator: ", ")
        means = base.means
        // The task-locals of an interceptor are those of its thread.
        isOnCaller = means == .none && !layers.contains(.intercepted)
        // A waiter takes a view of a pool and leaves the pool alone. A coordinator knows its writer
        // by the thread, which is that of the job.
        isInside =
            means != .own && !context.runsAnywhere && !base.subject.name.hasPrefix("a writing side")
        excludesJobs =
            context is any SerialContext && !layers.contains(.inlineIfCurrent)
            && base.subject.name != "manual"
    }

    var faults: [String] { state.value }

    func make(_ isIsolated: () -> Void) {
        visit(context.serial(), isIsolated)
        if let context = context as? any SynchronousContext { visit(context, isIsolated) }
    }

    private func visit(_ view: some SynchronousContext, _ isIsolated: () -> Void) {
        let caller = Thread.current
        let log = Box<[Int]>([])
        let isOver = Box(false)
        let done = DispatchSemaphore(value: 0)
        view.execute { log.withValue { $0.append(1) } }
        view.sync {
            if Thread.current === caller {
                isIsolated()
            } else {
                expect(!isOnCaller, "the body is on another thread")
            }
            expect(means != .main || MainContext().isCurrent == true, "the body is not on main")
            expect(view.isCurrent != false, "not in the view")
            expect(!isInside || context.isCurrent != false, "not in the context")
            view.sync { expect(!isOver.value, "a nested body came late") }
            if view is any SerialContext { expect(log.value == [1], "the body has overtaken") }
            if excludesJobs {
                context.execute {
                    self.expect(isOver.value, "a job beside the body")
                    done.signal()
                }
            }
            log.withValue { $0.append(2) }
            isOver.value = true
        }
        view.execute { log.withValue { $0.append(3) } }
        if view is any SerialContext { view.sync { expect(log.value == [1, 2, 3], "order") } }
        if excludesJobs {
            expect(done.wait(timeout: Patience.deadline) == .success, "a job is lost")
        }
    }

    private func expect(_ condition: Bool, _ fault: String) {
        if !condition { state.withValue { $0.append(fault) } }
    }
}
