import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A serial context before, during and after its shutdown.
@Suite(.patient)
struct EndingSerialContextTests {
    private actor Store {
        private let executor: any SerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe executor.asUnownedSerialExecutor()
        }
        private(set) var count = 0
        init(on context: EndingSerialContext) { executor = context }
        func add() { count += 1 }
        func set(_ value: Int) { count = value }
    }

    @Test func `The law kit finds no breach, before the shutdown and after it`() async {
        for base in [0, 1] {
            let context =
                base == 0
                ? EndingSerialContext(on: GlobalContext()) : EndingSerialContext(on: WorkerPool())
            let breaches = await Laws.check(context, shutDown: { context.shutDown() })
            #expect(breaches.isEmpty, "\(breaches)")
        }
    }

    @Test func `Law 2: jobs run in order, one at a time, and the end comes after them`() throws {
        let manual = ManualContext()
        let context = EndingSerialContext(on: manual, named: "database")
        let log = Box<[Int]>([])
        for number in 0..<5 { context.execute { log.withValue { $0.append(number) } } }
        let end = context.shutDown()
        #expect(!end.isCompleted)
        manual.runReady()
        #expect(log.value == [0, 1, 2, 3, 4])
        #expect((try? end.outcome?.get().isComplete) == true)
        #expect(context.shutDown().isCompleted)
        #expect("\(try #require(try end.outcome?.get()))" == "all jobs have run")
    }

    @Test func `Law 1: after the shutdown closures are refused, and due delays run`() async throws {
        let manual = ManualContext()
        let context = EndingSerialContext(on: manual, named: "database")
        let ran = Box<[String]>([])
        context.schedule(after: .seconds(5)) { ran.withValue { $0.append("delay") } }
        _ = withDeadline(in: .zero, on: manual) {
            #expect(throws: Refusal(.deadlinePassed, by: "database")) {
                try context.tryExecute {}
            }
        }
        context.shutDown()
        #expect(throws: Refusal(.shutDown, by: "database")) { try context.tryExecute {} }
        #expect(throws: Refusal.self) { try context.submit {}.outcome?.get() }
        await #expect(throws: Refusal.self) { try await context.run {} }
        manual.advance(by: .seconds(5))
        #expect(ran.value == ["delay"])
    }

    @Test func `Law 1: execute after the shutdown traps`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let context = EndingSerialContext(on: GlobalContext(), named: "database")
            context.shutDown()
            context.execute {}
        }
        try expectTrap(result, "'database'", "shut down", "law 1")
    }

    @Test func `When the budget has passed, what waits is dropped, freed and reported`() {
        let manual = ManualContext()
        let context = EndingSerialContext(on: Kept(time: manual.time), named: "database")
        let ran = Box(0)
        weak var captured: Box<Int>?
        let waiting: Async<Void>
        do {
            let box = Box(1)
            captured = box
            waiting = context.submit { ran.withValue { $0 += box.value } }
        }
        context.execute { ran.withValue { $0 += 1 } }
        let end = context.shutDown(within: .seconds(2))
        manual.advance(by: .seconds(1))
        #expect(!end.isCompleted && captured != nil)
        manual.advance(by: .seconds(1))
        #expect(captured == nil && ran.value == 0)
        #expect(throws: Refusal.self) { try waiting.outcome?.get() }
        #expect((try? end.outcome?.get().droppedCount) == 2)
    }

    /// A base that keeps its jobs for ever.
    private struct Kept: ExecutionContext {
        let time: any TimeSource
        let jobs = Box<[Work]>([])
        func execute(_ work: @escaping Work) { jobs.withValue { $0.append(work) } }
    }

    @Test func `A job that does not end is reported, and cannot keep the shutdown`() async throws {
        let context = EndingSerialContext(on: GlobalContext(), named: "database")
        let (begun, door) = (Promise<Void>(), Promise<Void>())
        context.execute {
            begun.succeed()
            try? door.async.wait()
        }
        try await begun.async.get()
        let waiting = context.submit {}
        let report = try await context.shutDown(within: .milliseconds(1)).get()
        #expect(report.droppedCount == 1 && report.isRunning)
        #expect("\(report)" == "1 jobs never ran, and one still runs")
        await #expect(throws: Refusal.self) { try await waiting.get() }
        door.succeed()
        #expect(try await context.shutDown().get() == report)
    }

    @Test
    func `Law 2: closures and jobs of actors keep the order in which one thread submits them`()
        async throws
    {
        let context = EndingSerialContext(on: .pool)
        let store = Store(on: context)
        let isOver = Box(false)
        // A few at a time: what only submits could be faster than the context, for ever.
        let noise = Task.detached {
            while !isOver.value {
                for _ in 0..<10 { context.execute {} }
                try await context.run {}
            }
        }
        for number in 1...2_000 {
            context.execute { store.assumeIsolated { $0.set(number) } }
            #expect(await store.count == number)
        }
        isOver.value = true
        try await noise.value
    }

    @Test func `Law 2: a job that the budget drops leaves its turn to no other job`() async throws {
        let manual = ManualContext()
        let base = Kept(time: manual.time)
        let context = EndingSerialContext(on: base)
        let store = Store(on: context)
        let seen = Box<Int?>(nil)
        context.execute {}
        let end = context.shutDown(within: .seconds(1))
        manual.advance(by: .seconds(1))
        #expect((try? end.outcome?.get().droppedCount) == 1)
        let added = startedTask { await store.add() }
        context.enqueue { store.assumeIsolated { seen.value = $0.count } }
        for job in base.jobs.value { job() }
        try await added.value
        #expect(seen.value == 1)
    }

    @Test func `A second shutdown has the report of the first one, also if that was cancelled`()
        async
    {
        let manual = ManualContext()
        let context = EndingSerialContext(on: Kept(time: manual.time))
        context.execute {}
        let first = context.shutDown(within: .seconds(1))
        let second = context.shutDown()
        first.cancel()
        manual.advance(by: .seconds(1))
        #expect((try? second.outcome?.get().droppedCount) == 1)
        #expect((try? context.shutDown().outcome?.get().droppedCount) == 1)
        #expect(manual.delayedCount == 0)
    }

    @Test func `Law 13: an actor works before the shutdown, during it and after it`() async throws {
        let context = EndingSerialContext(on: GlobalContext(), named: "store")
        let store = Store(on: context)
        await store.add()
        try await context.run { store.assumeIsolated { $0.add() } }
        #expect(try await context.shutDown().get().isComplete)
        for _ in 0..<100 { await store.add() }
        #expect(await store.count == 102)
    }

    @Test func `Law 13: the actor works though its base drops all jobs`() async {
        let token = InvalidationToken()
        let context = EndingSerialContext(on: GlobalContext().valid(while: token))
        let store = Store(on: context)
        await store.add()
        token.invalidate()
        context.shutDown()
        await withDiscardingTaskGroup { group in
            for _ in 0..<100 { group.addTask { await store.add() } }
        }
        #expect(await store.count == 101)
    }

    @Test func `Law 27: a job is an obstacle for the end of its own context, without a budget`()
        async throws
    {
        let context = EndingSerialContext(on: GlobalContext(), named: "database")
        try await context.run {
            let end = context.shutDown()
            let obstacle = end.endlessWait ?? ""
            #expect(obstacle.contains("'database' is left, and the caller is one"))
            _ = context.shutDown(within: .seconds(1000))
            #expect(end.endlessWait == nil)
        }
    }

    @Test func `Law 1: each job runs or is refused, whenever the shutdown comes`() async {
        await underEverySchedule("shutdown") { sim, onlooker in
            let context = EndingSerialContext(on: sim.global, named: "ending")
            let (ran, refused) = (Box(0), Box(0))
            for _ in 0..<2 {
                sim.spawn("submitting") {
                    for _ in 0..<2 {
                        do {
                            try context.tryExecute {
                                onlooker.visit()
                                ran.withValue { $0 += 1 }
                            }
                        } catch { refused.withValue { $0 += 1 } }
                    }
                }
            }
            sim.spawn("ending") {
                context.shutDown().onSuccess { report in
                    onlooker.expect(
                        report.isComplete && ran.value + refused.value <= 4,
                        "\(report), \(ran.value) have run")
                }
            }
            sim.finally("all have run or were refused") { ran.value + refused.value == 4 }
        }
    }
}
