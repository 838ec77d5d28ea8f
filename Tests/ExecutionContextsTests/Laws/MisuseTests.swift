import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Misuse that can be known stops the program with a sentence that names the law.
@Suite(.timeLimit(.minutes(30)))
struct MisuseTests {
    @Test func `Law 1: a limit of zero is refused`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = GlobalContext().limited(to: 0)
        }
        try expectSentence(result, "limited to 0", "law 1")
    }

    @Test func `Law 1: a negative capacity is refused`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = GlobalContext().bounded(-3, overflow: .refuse)
        }
        try expectSentence(result, "-3", "law 1")
    }

    @Test func `Law 1: a blocking context without threads is refused`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = BlockingContext(limit: 0)
        }
        try expectSentence(result, "limit of 0", "law 1")
    }

    @Test func `Law 1: plain work that a full view must refuse stops the program, it is not lost`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let view = ManualContext().bounded(1, overflow: .refuse)
            view.execute {}
            view.execute {}
        }
        try expectSentence(result, "refused by 'manual'", "law 1", "tryExecute")
    }

    @Test func `Law 2: a manual context is not run from within its own work`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = ManualContext()
            context.execute {
                context.execute {}; context.step()
            }
            context.runReady()
        }
        try expectSentence(result, "law 2")
    }

    @Test func `Law 3: a barrier that would wait for the work it is called from is refused`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = BarrierQueueContext(label: "cache")
            context.sync { context.syncBarrier {} }
        }
        try expectSentence(result, "'cache'", "law 3", "executeBarrier")
    }

    @Test func `Law 4: preconditionIsCurrent elsewhere stops the program`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            GlobalContext().serial("ledger").preconditionIsCurrent()
        }
        try expectSentence(result, "'ledger'", "law 4")
    }

    @Test func `Law 4: a queue that can check but not tell still stops the program`() async {
        await #expect(processExitsWith: .failure) {
            DispatchQueue(label: "some queue").context.preconditionIsCurrent()
        }
    }

    @Test func `Law 7: a delay of not-a-number seconds is refused`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            GlobalContext().schedule(after: .nan) {}
        }
        try expectSentence(result, "not-a-number", "law 7", "MisuseTests.swift")
    }

    @Test func `Law 7: a repetition without a period is refused`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = GlobalContext().repeat(every: .zero) {}
        }
        try expectSentence(result, "law 7", "MisuseTests.swift")
    }

    @Test func `Law 13: an actor on a context that loses its jobs stops the program, it does not hang`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let executor = LosingContext().serialExecutor
            await Lodger(executor).visit()
        }
        try expectSentence(result, "'losing'", "law 13")
    }

    @Test func `Law 13: isolation is not assumed where the context cannot know`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = UnknowingContext()
            let lodger = Lodger(context.serialExecutor)
            let done = DispatchSemaphore(value: 0)
            context.execute {
                lodger.assumeIsolated { _ in }
                done.signal()
            }
            done.wait()
        }
        try expectSentence(result, "law 4")
    }

    @Test func `Law 23: a thread whose values store new ones for ever when they die stops the program`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = Thread { Phoenix.local.set(Phoenix()) }
            thread.start()
            // The process ends before this does.
            DispatchSemaphore(value: 0).wait()
        }
        try expectSentence(result, "thread cannot end", "law 23")
    }
}

/// Stores its successor when it dies.
private final class Phoenix {
    static let local = ThreadLocalValue<Phoenix>()
    deinit { Self.local.set(Phoenix()) }
}

/// An actor that lives on an executor.
private actor Lodger {
    private let executor: any SerialExecutor
    init(_ executor: any SerialExecutor) { self.executor = executor }
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    func visit() {}
}

/// Says that it is serial, and loses everything.
private struct LosingContext: ActorBackingContext {
    var name: String { "losing" }
    func execute(_ work: @escaping Work) {}
}

/// Serial, and unable to say where the caller is.
private struct UnknowingContext: ActorBackingContext {
    private let queue = DispatchQueue(label: "unknowing")
    func execute(_ work: @escaping Work) { queue.async(execute: work) }
}
