import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import ExecutionContextsWork

// Legal code beside each misuse. It must compile without a warning.

enum Request { @TaskLocal static var id = 0 }

func backing(
    _ token: InvalidationToken, _ section: CriticalSection, _ coordinator: ReadWriteCoordinator,
    _ some: some ActorBackingContext, _ erased: any ActorBackingContext,
    _ context: any ExecutionContext
) {
    let local = ThreadLocalValue<Int>()
    let contexts: [any ActorBackingContext] = [
        SerialQueueContext(name: "q"), MainContext(), coordinator.writing,
        ThreadContext(name: "t"), RunLoopThreadContext(name: "t"), ManualContext(),
        RecordingContext(ManualContext()), some,
        erased, context.serial(), GlobalContext().valid(while: token).serial(),
        WorkerPool().serial(),
        SerialQueueContext(name: "q").bounded(to: 1, overflow: .refuse).serial(),
    ]
    let views: [any ActorBackingContext] = [
        some.named("n"), some.barrier(), some.inlineIfCurrent(), some.exclusive(section),
        some.observed(by: Recorder()), some.watched(limit: .seconds(1)) { _ in },
        some.propagating(Request.$id), some.binding(local, to: 1),
        erased.with(.named("n")).with(.inlineIfCurrent),
    ]
    let executor: any SerialExecutor = EndingSerialContext(on: .global)
    _ = (contexts, views, executor)
}

func tasks(
    _ token: InvalidationToken, _ refusing: some RefusingContext, _ context: any ExecutionContext
)
    async throws
{
    _ = refusing.taskExecutor
    _ = context.valid(while: token).taskExecutor
    _ = try await refusing.runTask { 1 }
    _ = try await context.bounded(to: 1, overflow: .wait).submitTask { 1 }.get()
}

func look(_ token: InvalidationToken) {
    func take(_ context: some ActorBackingContext) {}
    take(.main)
    take(.serial(named: "q"))
    take(.thread(named: "t"))
    take(.runLoopThread(named: "t"))
    func takeSerial(_ context: any SerialContext) {}
    takeSerial(SerialQueueContext(name: "q").valid(while: token))
    takeSerial(.main)
}

func holds(_ context: some SynchronousBarrierContext) {
    let hold = context.hold()
    hold.release()
}

// Chains in which a closure of several statements decides a type.

func chains(_ number: Async<Int>) {
    number.map { number -> Int in
        let next = number + 1
        return next
    }.onSuccess { print($0) }
    number.map { number in
        let next = number + 1
        return next
    }.onSuccess { print("\($0)") }
    let next = number.map { number in
        let next = number + 1
        return next
    }
    next.onSuccess { print($0) }
    next.onComplete { print($0) }
    let failed: Async<String> = number.flatMap { _ in throw CancellationError() }
    failed.onFailure { print($0) }
    let repeated: Async<String> = number.flatMap { _ in .lazy { .init(.success("later")) } }
    repeated.onSuccess { print($0) }
}
