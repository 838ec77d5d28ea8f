import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Misuse that is found at run time traps with a message that names the law.
@Suite(.patient)
struct MisuseTests {
    @Test func `Law 1: a limit of zero traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = GlobalContext().limited(to: 0)
        }
        try expectTrap(result, "limited to 0", "law 1")
    }

    @Test func `Law 1: a negative capacity traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = GlobalContext().bounded(to: -3, overflow: .refuse)
        }
        try expectTrap(result, "-3", "law 1")
    }

    @Test func `Law 1: a blocking context without threads traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = BlockingContext(limit: 0)
        }
        try expectTrap(result, "limit of 0", "law 1")
    }

    @Test func `Law 1: execute on a full view that refuses traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let view = ManualContext().bounded(to: 1, overflow: .refuse)
            view.execute {}
            view.execute {}
        }
        try expectTrap(result, "refused by 'manual'", "law 1", "tryExecute")
    }

    @Test func `Law 2: running a manual context inside its own job traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = ManualContext()
            context.execute {
                context.execute {}; context.step()
            }
            context.runReady()
        }
        try expectTrap(result, "law 2")
    }

    @Test func `Law 3: a barrier that would wait for its own caller traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = BarrierQueueContext(name: "cache")
            context.sync { context.syncBarrier {} }
        }
        try expectTrap(result, "'cache'", "law 3", "executeBarrier")
    }

    @Test func `Law 4: preconditionIsCurrent outside the context traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            GlobalContext().serial(named: "ledger").preconditionIsCurrent()
        }
        try expectTrap(result, "'ledger'", "law 4")
    }

    /// A queue does not say that the caller is elsewhere: the system checks it, and traps without a
    /// word on some systems.
    @Test
    func `Law 4: preconditionIsCurrent traps with the caller's words where the system checks`()
        async throws
    {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            DispatchQueue(label: "some queue").context.preconditionIsCurrent("one word")
        }
        try expectTrap(result, "'some queue'", "law 4", "one word")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            SerialQueueContext(name: "books").preconditionIsCurrent("two words")
        }
        try expectTrap(result, "'books'", "law 4", "two words")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            BarrierQueueContext(name: "shelves").preconditionIsCurrent("three words")
        }
        try expectTrap(result, "'shelves'", "law 4", "three words")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            await offThePool { MainContext().preconditionIsCurrent("four words") }
        }
        try expectTrap(result, "'main'", "law 4", "four words")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (here, elsewhere) = (
                DispatchQueue(label: "here"), DispatchQueue(label: "elsewhere")
            )
            let context = Checking(here: here, elsewhere: elsewhere)
            // The other queue's sync hides the mark of the first.
            here.sync {
                DispatchQueue(label: "another").sync {
                    context.preconditionIsCurrent("five words")
                }
            }
        }
        try expectTrap(result, "'checking'", "law 4", "five words")
    }

    /// A context whose check asks the system twice: the first check passes, the second does not.
    private struct Checking: ExecutionContext {
        let here: DispatchQueue
        let elsewhere: DispatchQueue

        var name: String { "checking" }
        func execute(_ work: @escaping Work) { here.async(execute: work) }

        func checkIsCurrent() -> Bool {
            here.context.preconditionIsCurrent()
            dispatchPrecondition(condition: .onQueue(elsewhere))
            return true
        }
    }

    @Test func `Law 4: a check that passes leaves the process's signals as they were`() async {
        await #expect(processExitsWith: .success) {
            /// The handler, which the structure begins with.
            func handler() -> [UInt8] {
                var action = sigaction()
                unsafe sigaction(SIGILL, nil, &action)
                return unsafe withUnsafeBytes(of: &action) { unsafe Array($0.prefix(8)) }
            }
            let before = handler()
            onThreads(8) {
                let queue = DispatchQueue(label: "some queue")
                // The other queue's sync hides the mark of the first.
                queue.sync {
                    DispatchQueue(label: "another").sync {
                        for _ in 0..<100 { queue.context.preconditionIsCurrent() }
                    }
                }
            }
            precondition(handler() == before)
        }
    }

    @Test func `Law 7: a repetition with a period of zero traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = GlobalContext().schedule(every: .zero) {}
        }
        try expectTrap(result, "law 7", "MisuseTests.swift")
    }

    @Test func `Law 13: an actor on a context that drops its jobs traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let executor = DroppingContext()
            await ExecutorActor(executor).visit()
        }
        try expectTrap(result, "'dropping'", "law 13")
    }

    @Test func `Law 13: assumeIsolated traps where the context cannot know`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let context = UnknowingContext()
            let actor = ExecutorActor(context)
            let done = DispatchSemaphore(value: 0)
            context.execute {
                actor.assumeIsolated { _ in }
                done.signal()
            }
            done.wait()
        }
        try expectTrap(result, "law 4")
    }

    @Test func `Law 23: a thread whose values store new ones for ever traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let thread = Thread { Phoenix.local.set(Phoenix()) }
            thread.start()
            // The process ends before this wait does.
            DispatchSemaphore(value: 0).wait()
        }
        try expectTrap(result, "thread cannot end", "law 23")
    }
}

/// Stores its successor in its deinit.
private final class Phoenix {
    static let local = ThreadLocalValue<Phoenix>()
    deinit { Self.local.set(Phoenix()) }
}

/// An actor on a given executor.
private actor ExecutorActor {
    private let executor: any SerialExecutor
    init(_ executor: any SerialExecutor) { self.executor = executor }
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }
    func visit() {}
}

/// Claims to be serial, and drops every job.
private final class DroppingContext: ActorBackingContext {
    var name: String { "dropping" }
    func execute(_ work: @escaping Work) {}
}

/// A serial context whose `isCurrent` is not known.
private final class UnknowingContext: ActorBackingContext {
    private let queue = DispatchQueue(label: "unknowing")
    func execute(_ work: @escaping Work) { queue.async(execute: work) }
}
