import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// The jobs of tasks and actors on contexts that refuse or drop jobs (law 13).
@Suite(.patient)
struct AcceptedJobTests {
    /// Contexts that drop or refuse jobs after the token is invalidated, or from the beginning.
    enum Loss: CaseIterable {
        case invalidated, invalidatedBelowALimit, full, dropping, shutDown, dropsAll

        func base(_ token: InvalidationToken) -> any ExecutionContext {
            switch self {
            case .invalidated: return GlobalContext().valid(while: token)
            case .invalidatedBelowALimit: return GlobalContext().valid(while: token).limited(to: 2)
            case .full:
                let full = GlobalContext().serial().bounded(to: 1, overflow: .refuse)
                try? full.tryExecute {}
                return full
            case .dropping:
                return GlobalContext().bounded(to: 1, overflow: .dropOldest(notify: { _ in }))
            case .shutDown:
                let pool = WorkerPool(width: 1)
                pool.shutDown()
                return pool
            case .dropsAll: return ClosureContext(name: "dropping") { _ in }
            }
        }
    }

    @Test(arguments: Loss.allCases)
    func
        `Law 13: an actor on a serial view runs each job, one at a time, also if the base drops its drains`(
            _ loss: Loss
        ) async
    {
        let token = InvalidationToken()
        let view = loss.base(token).serial(named: "ledger")
        let ledger = Ledger(on: view)
        await withTaskGroup { group in
            for index in 0..<200 {
                group.addTask { await ledger.add() }
                if index == 100 { token.invalidate() }
                // The view may drop its own jobs, but never runs one beside a job of the actor.
                view.execute { ledger.assumeIsolated { $0.visit() } }
            }
        }
        #expect(await ledger.total == 200)
        #expect(await ledger.wasAlwaysOnItsContext)
    }

    @Test(arguments: Loss.allCases)
    func `Law 13: a task that prefers a view which refuses or drops jobs ends`(
        _ loss: Loss
    ) async {
        let token = InvalidationToken()
        let executor = loss.base(token).taskExecutor
        let task = Task(executorPreference: executor) {
            for index in 0..<100 {
                if index == 50 { token.invalidate() }
                await Task.yield()
            }
            return "ended"
        }
        #expect(await task.value == "ended")
    }

    @Test func `Law 13: the jobs of a task stay on the serial context below bounds and tokens`()
        async throws
    {
        let base = SerialQueueContext(name: "base")
        let makeViews: [(InvalidationToken) -> any ExecutionContext] = [
            { _ in base.bounded(to: 1, overflow: .refuse).named("bounded") },
            { base.valid(while: $0).named("while") },
            {
                base.bounded(to: 1, overflow: .dropOldest(notify: { _ in })).valid(while: $0)
                    .propagating(
                        Request.$id)
            },
        ]
        for makeView in makeViews {
            let token = InvalidationToken()
            let isOnBase = try await makeView(token).runTask {
                for _ in 0..<50 {
                    token.invalidate()
                    await Task.yield()
                    guard base.isCurrent == true else { return false }
                }
                return true
            }
            #expect(isOnBase)
        }
    }

    @Test
    func `Laws 1, 13: runTask and submitTask resolve with the refusal, and the body never starts`()
        async throws
    {
        let manual = ManualContext()
        let full = manual.bounded(to: 1, overflow: .refuse)
        try full.tryExecute {}
        let token = InvalidationToken()
        token.invalidate()
        let pool = WorkerPool(width: 1)
        try await pool.shutDown().get()
        let contexts: [(any ExecutionContext, Refusal.Reason)] = [
            (full.named("full"), .full(capacity: 1)),
            (GlobalContext().valid(while: token), .invalidated),
            (pool, .shutDown),
        ]
        for (context, reason) in contexts {
            let first = await #expect(throws: Refusal.self) {
                try await context.runTask { Issue.record("It was refused.") }
            }
            #expect(first?.reason == reason)
            #expect(first?.sourceLocation?.contains("AcceptedJobTests.swift") == true)
            if context.name == "full" { continue }
            let second = await #expect(throws: Refusal.self) {
                try await context.submitTask { Issue.record("It was refused.") }.get()
            }
            #expect(second?.reason == reason)
        }
        manual.runReady()
    }

    private enum Request {
        @TaskLocal static var id = 0
    }
}

private actor Ledger {
    private let context: any ActorBackingContext
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }
    private let isInside = Atomic(false)
    private(set) var total = 0
    private(set) var wasAlwaysOnItsContext = true

    init(on context: some ActorBackingContext) {
        self.context = context
        executor = context
    }

    func add() {
        visit()
        total += 1
    }

    func visit() {
        // Acquiring and releasing, like a lock.
        if isInside.exchange(true, ordering: .acquiring) { wasAlwaysOnItsContext = false }
        if context.isCurrent != true { wasAlwaysOnItsContext = false }
        isInside.store(false, ordering: .releasing)
    }
}
