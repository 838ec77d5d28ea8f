import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// After a shutdown a pool accepts no job, and every accepted job runs.
@Suite(.patient)
struct WorkerPoolEndTests {
    @Test func `Law 1: jobs that were accepted before a shutdown run before the shutdown ends`()
        async
    {
        await watched {
            let pool = WorkerPool(width: 2)
            let ran = RunCount()
            for _ in 0..<1_000 { pool.execute { ran.hit() } }
            try! pool.shutDown().wait()
            #expect(ran.value == 1_000)
        }
    }

    @Test func `Law 1: after a shutdown each way of submitting reports the refusal`() async throws {
        let pool = WorkerPool(name: "closed", width: 1)
        try await pool.shutDown().get()
        #expect(throws: Refusal(.shutDown, by: "closed")) { try pool.tryExecute {} }
        let refusal = Box<Refusal?>(nil)
        pool.execute({}, refused: { refusal.value = $0 })
        #expect(refusal.value?.reason == .shutDown)
        await #expect(throws: Refusal.self) { try await pool.run {} }
        await #expect(throws: Refusal.self) { try await pool.submit {}.get() }
        #expect(throws: Refusal(.shutDown, by: "closed(high)")) {
            try pool.prioritized(.high).tryExecute {}
        }
    }

    @Test func `Law 1: execute after a shutdown traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let pool = WorkerPool(name: "thumbnails", width: 1)
            pool.shutDown()
            pool.execute {}
        }
        try expectTrap(result, "'thumbnails'", "shut down", "law 1", "tryExecute")
    }

    @Test func `Law 1: a job's own submission after a shutdown is refused`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            let refused = try! pool.submit { () -> Bool in
                pool.shutDown()
                do throws(Refusal) {
                    try pool.tryExecute {}
                    return false
                } catch { return error.reason == .shutDown }
            }.wait()
            #expect(refused)
        }
    }

    @Test func `Laws 1, 7: accepted delays and the jobs of views run after a shutdown`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            let view = pool.serial(named: "ledger")
            let ran = DispatchSemaphore(value: 0)
            pool.schedule(after: .seconds(0.01)) { ran.signal() }
            view.execute { view.execute { ran.signal() } }
            try! pool.shutDown().wait()
            for _ in 0..<2 { ran.wait() }
        }
    }

    @Test func `Law 1: each submission that races a shutdown either runs or is refused`() async {
        await watched {
            for _ in 0..<rounds(debug: 100, release: 2_000) {
                let pool = WorkerPool(width: 2)
                let (ran, refused) = (RunCount(), RunCount())
                let submit: @Sendable () -> Void = {
                    for _ in 0..<20 { pool.execute({ ran.hit() }, refused: { _ in refused.hit() }) }
                }
                onThreads([submit, submit, submit, { _ = pool.shutDown() }])
                try! pool.shutDown().wait()
                #expect(ran.value + refused.value == 60)
            }
        }
    }

    @Test func `A pool of width zero, or with a limit below its width, traps with a message`()
        async throws
    {
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = WorkerPool(width: 0, limit: 4)
        }
        try expectTrap(none, "0 workers", "law 1")
        let few = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = WorkerPool(width: 5, limit: 4)
        }
        try expectTrap(few, "5 workers", "4 in all", "law 1")
    }
}
