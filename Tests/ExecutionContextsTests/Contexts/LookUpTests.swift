import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The short spellings of contexts, and the ways to submit jobs to them.
@Suite(.patient)
struct LookUpTests {
    private func name(of context: some ExecutionContext) -> String { context.name }
    private func name(ofAny context: any ExecutionContext) -> String { context.name }
    private func name(ofSerial context: some SerialContext) -> String { context.name }
    private func name(ofBarrier context: any BarrierContext) -> String { context.name }

    @Test func `Every context has a short spelling, for parameters of type some and of type any`() {
        let queue = OperationQueue()
        queue.name = "operations"
        let executor = QueueExecutor()
        #expect(name(of: .immediate) == "immediate" && name(ofAny: .immediate) == "immediate")
        #expect(name(of: .trampoline) == "trampoline" && name(ofAny: .trampoline) == "trampoline")
        #expect(name(of: .main) == "main" && name(ofAny: .main) == "main")
        #expect(name(of: .global) == "global" && name(ofAny: .global) == "global")
        #expect(name(of: .global(qos: .utility)) == "global(utility)")
        #expect(name(ofAny: .global(qos: .background)) == "global(background)")
        #expect(name(of: DispatchQueue(label: "mine").context) == "mine")
        #expect(name(ofAny: DispatchQueue(label: "mine").context) == "mine")
        #expect(name(of: .serial(named: "db")) == "db" && name(ofAny: .serial(named: "db")) == "db")
        #expect(
            name(ofSerial: .serial(named: "db")) == "db"
                && name(ofBarrier: .serial(named: "db")) == "db")
        #expect(
            name(of: .barrier(named: "b")) == "b" && name(ofBarrier: .barrier(named: "b")) == "b")
        #expect(
            name(of: queue.context) == "operations"
                && name(ofAny: queue.context) == "operations")
        #expect(
            name(of: .thread(named: "gl")) == "gl" && name(ofSerial: .thread(named: "gl")) == "gl")
        #expect(
            name(of: .runLoopThread(named: "gl")) == "gl"
                && name(ofSerial: .runLoopThread(named: "gl")) == "gl")
        #expect(name(of: .blocking) == "blocking" && name(ofAny: .blocking) == "blocking")
        let closure = name(of: .closure(named: "mine") { @Sendable work in work() })
        let anyClosure = name(ofAny: .closure(named: "mine") { work in work() })
        #expect(closure == "mine" && anyClosure == "mine")
        #expect(
            name(of: Host().context) == "Host" && name(of: executor.context) == "QueueExecutor")
        #expect(name(ofSerial: .main) == "main" && name(ofBarrier: .main) == "main")
    }

    @Test func `A context can be called like a function`() {
        let context = ManualContext()
        let ran = Box(false)
        context { ran.value = true }
        context.runReady()
        #expect(ran.value)
    }

    @Test func `A view of a stored any has its own name and answers isCurrent`() async throws {
        let stored: any ExecutionContext = .global
        let view = stored.serial(named: "orders").named("renamed")
        #expect(view.name == "renamed")
        #expect(try await view.run { view.isCurrent } == true)
    }

    @Test func `Law 4: assertIsCurrent passes where the context is current`() async throws {
        let view = GlobalContext().serial()
        try await view.run { view.assertIsCurrent() }
    }

    @Test
    func `The main context takes closures of the main actor, however they are submitted`()
        async throws
    {
        let main = MainContext()
        await withCheckedContinuation { done in
            main.execute {
                Screen.title = "executed"
                done.resume()
            }
        }
        await withCheckedContinuation { done in
            main.schedule(after: .milliseconds(1)) {
                Screen.title += ", scheduled"
                done.resume()
            }
        }
        #expect(try await main.submit { Screen.title }.get() == "executed, scheduled")
    }

    @Test func `Law 13: an async body runs on the context and is part of its task`() async throws {
        let context = GlobalContext().serial()
        let task = Task {
            try await context.runTask {
                #expect(context.isCurrent == true)
                await Task.yield()
                #expect(context.isCurrent == true)
                return Request.$id.get()
            }
        }
        #expect(try await task.value == 0)
        let ran = Box(false)
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            try await context.runTask { ran.value = true }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(!ran.value)
        let seen = try await Request.$id.withValue(7) { try await context.runTask { Request.id } }
        #expect(seen == 7)
    }

    @Test func `Law 13: a task on a context that drops its jobs continues elsewhere`() async {
        let dropping = ClosureContext(name: "dropping") { _ in }
        #expect(await Task(executorPreference: dropping.taskExecutor) { 42 }.value == 42)
    }

    private enum Request {
        @TaskLocal static var id = 0
    }
}

@MainActor private enum Screen {
    static var title = ""
}
