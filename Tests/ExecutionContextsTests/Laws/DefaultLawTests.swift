import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The default implementations keep the laws for a context that has only the requirements.
@Suite(.patient)
struct DefaultLawTests {
    @Test func `Law 1: run and submit fail with the refusal of a context that only has tryExecute`()
        async
    {
        let context = Least()
        let run = await #expect(throws: Refusal.self) { try await context.run {} }
        let submit = await #expect(throws: Refusal.self) { try await context.submit {}.get() }
        let erased: any ExecutionContext = context
        let below = await #expect(throws: Refusal.self) {
            try await erased.with(.named("renamed")).run {}
        }
        #expect([run, submit, below].map(\.?.reason) == [.shutDown, .shutDown, .shutDown])
    }

    @Test func `Law 1: run fails with the refusal of a decorator that only has tryExecute`() async {
        let refusal = await #expect(throws: Refusal.self) {
            try await LeastRefusing(base: GlobalContext()).run {}
        }
        #expect(refusal?.reason == .full(capacity: 0))
    }

    @Test func `Law 8: a decorator also decorates the jobs of waiting callers`() {
        let additions = Box(0)
        let view = Adding(base: SerialQueueContext(name: "base"), additions: additions)
        #expect(view.sync { additions.value } == 1)
        #expect(view.syncBarrier { additions.value } == 2)
        view.executeBarrier {}
        view.execute {}
        #expect(view.sync { additions.value } == 5)
    }

    @Test func `Law 8: a decorator that drops a job of a waiting caller traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            Swallowing(base: SerialQueueContext(name: "base")).sync {}
        }
        try expectTrap(result, "'base'", "law 1", "decorate")
    }

    @Test func `Law 6: no job runs inline while a caller waits for an earlier job`() async throws {
        let base = Announcing()
        let view = base.inlineIfCurrent()
        let ranInline = Box(true)
        await offThePool {
            let isInside = DispatchSemaphore(value: 0)
            view.execute {
                isInside.signal()
                base.hasWaiter.wait()
                let ran = Box(false)
                view.execute { ran.value = true }
                ranInline.value = ran.value
            }
            isInside.wait()
            view.sync {}
        }
        #expect(!ranInline.value)
    }
}

/// Refuses every job, and implements only the requirements.
private struct Least: RefusingContext {
    func execute(_ work: @escaping Work) { Issue.record("It was refused.") }
    func tryExecute(_ work: @escaping Work) throws(Refusal) { throw Refusal(.shutDown, by: name) }
}

/// Does the same, as a decorator.
private struct LeastRefusing<Base: ExecutionContext>: ContextDecorator, RefusingContext {
    let base: Base
    func tryExecute(_ work: @escaping Work) throws(Refusal) {
        throw Refusal(.full(capacity: 0), by: name)
    }
}

/// Counts the decorated jobs when they run.
private struct Adding<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    let additions: Box<Int>

    func decorate(_ work: @escaping Work) -> Work {
        {
            additions.withValue { $0 += 1 }
            work()
        }
    }
}

extension Adding: BarrierContext where Base: BarrierContext {}
extension Adding: SerialContext where Base: SerialContext {}
extension Adding: SynchronousContext where Base: SynchronousContext {}
extension Adding: SynchronousBarrierContext where Base: SynchronousBarrierContext {}

/// Drops the jobs it decorates.
private struct Swallowing<Base: SynchronousContext>: ContextDecorator, SynchronousContext {
    let base: Base
    func decorate(_ work: @escaping Work) -> Work { {} }
}

/// Signals when a caller waits for it.
private final class Announcing: SerialContext, SynchronousContext {
    private let base = SerialQueueContext(name: "base")
    let hasWaiter = DispatchSemaphore(value: 0)

    func execute(_ work: @escaping Work) { base.execute(work) }

    func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        hasWaiter.signal()
        return try base.sync(body)
    }

    var isCurrent: Bool? { base.isCurrent }
}
