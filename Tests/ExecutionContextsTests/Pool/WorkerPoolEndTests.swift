import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// After a shutdown nothing is accepted, and everything that was has run.
@Suite(.timeLimit(.minutes(30)))
struct WorkerPoolEndTests {
    @Test func `Law 1: what was accepted before a shutdown runs, and then it has ended`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            let ran = Tallied()
            for _ in 0..<1_000 { pool.execute { ran.hit() } }
            try! pool.shutDown().wait()
            #expect(ran.value == 1_000)
        }
    }

    @Test func `Law 1: after a shutdown each way of submitting says so`() async throws {
        let pool = WorkerPool(name: "closed", width: 1)
        try await pool.shutDown().get()
        #expect(throws: Refusal(.shutDown, by: "closed")) { try pool.tryExecute {} }
        let refusal = Box<Refusal?>(nil)
        pool.execute({}, refused: { refusal.value = $0 })
        #expect(refusal.value?.reason == .shutDown)
        await #expect(throws: Refusal.self) { try await pool.run {} }
        await #expect(throws: Refusal.self) { try await pool.submit {}.get() }
        #expect(throws: Refusal(.shutDown, by: "closed(high)")) { try pool.prioritized(.high).tryExecute {} }
    }

    @Test func `Law 1: execute after a shutdown stops the program with a sentence`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let pool = WorkerPool(name: "thumbnails", width: 1)
            pool.shutDown()
            pool.execute {}
        }
        try expectSentence(result, "'thumbnails'", "shut down", "law 1", "tryExecute")
    }

    @Test func `Law 1: work of its own work is refused after a shutdown, in the middle of a piece`() async {
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

    @Test func `Laws 1, 7: delays and views' turns that were accepted run after a shutdown`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            let view = pool.serial("ledger")
            let ran = DispatchSemaphore(value: 0)
            pool.schedule(after: 0.01) { ran.signal() }
            view.execute { view.execute { ran.signal() } }
            try! pool.shutDown().wait()
            for _ in 0..<2 { ran.wait() }
        }
    }

    @Test func `Law 1: submissions that race a shutdown run or are refused, never neither`() async {
        await watched {
            for _ in 0..<rounds(debug: 100, release: 2_000) {
                let pool = WorkerPool(width: 2)
                let (ran, refused) = (Tallied(), Tallied())
                let submit: @Sendable () -> Void = {
                    for _ in 0..<20 { pool.execute({ ran.hit() }, refused: { _ in refused.hit() }) }
                }
                onThreads([submit, submit, submit, { _ = pool.shutDown() }])
                try! pool.shutDown().wait()
                #expect(ran.value + refused.value == 60)
            }
        }
    }

    @Test func `A pool of no width, or with fewer threads than that, stops the program`() async throws {
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = WorkerPool(width: 0, limit: 4)
        }
        try expectSentence(none, "0 workers", "law 1")
        let few = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = WorkerPool(width: 5, limit: 4)
        }
        try expectSentence(few, "5 workers", "4 in all", "law 1")
    }
}
