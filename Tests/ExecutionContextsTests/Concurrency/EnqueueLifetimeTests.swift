import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// The runtime does not keep an executor while it enqueues a job. The job may run, and free the
/// last user of the executor, before `enqueue` returns.
@Suite(.patient, .serialized)
struct EnqueueLifetimeTests {
    enum Kind: CaseIterable { case own, named, inline, serial, ending }

    @Test(arguments: Kind.allCases)
    func `Law 13: what backs an actor lives until it has enqueued the job`(_ kind: Kind) async {
        let life = Life()
        await offThePool {
            Worker.current.value = Worker(make(kind, Late(life)), life)
            Task.detached { @Worker in }
        }
        #expect(life.wasKept.value == true)
    }

    @Test func `Law 13: the executor of tasks lives until it has enqueued the job`() async {
        let life = Life()
        await offThePool { runTask(life) }
        #expect(life.wasKept.value == true)
    }
}

private func make(_ kind: EnqueueLifetimeTests.Kind, _ base: Late) -> any SerialExecutor {
    switch kind {
    case .own: base
    case .named: base.named("view")
    case .inline: base.inlineIfCurrent()
    case .serial: base.serial()
    case .ending: EndingSerialContext(on: base)
    }
}

@inline(never)
private func runTask(_ life: Life) {
    let executor = Late(life).taskExecutor
    life.watched = executor
    Task.detached(executorPreference: executor) {}
}

/// Whether an executor lives until its `enqueue` returns.
private final class Life: @unchecked Sendable {
    // Unchecked: set before the job is enqueued, and read after it has run.
    weak var watched: AnyObject?
    let wasKept = Box<Bool?>(nil)
}

/// Runs each job on another thread, and returns when nothing of the job is left.
private final class Late: ActorBackingContext {
    private let life: Life

    init(_ life: Life) { self.life = life }

    func execute(_ work: consuming @escaping Work) {
        let (life, job, end) = (life, Box<Work?>(consume work), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            job.value?()
            job.value = nil
            end.signal()
        }
        end.wait()
        life.wasKept.value = life.watched != nil
    }

    var isCurrent: Bool? { nil }
}

/// An actor whose only task has its last reference.
@globalActor private actor Worker {
    static let current = Box<Worker?>(nil)
    static var shared: Worker {
        defer { current.value = nil }
        return current.value ?? Worker(SerialQueueContext(name: "none"), Life())
    }

    private let context: any SerialExecutor
    // The actor stores the context, which is its executor.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe context.asUnownedSerialExecutor()
    }

    init(_ context: any SerialExecutor, _ life: Life) {
        self.context = context
        life.watched = context
    }
}
