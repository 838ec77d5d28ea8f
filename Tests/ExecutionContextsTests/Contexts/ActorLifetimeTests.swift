import ExecutionContexts
import Testing

/// What an actor and its contexts keep alive (law 10).
struct ActorLifetimeTests {
    private actor Keeper {
        private var kept: (any SerialContext)?
        private let freed: Promise<Void>

        init(_ freed: Promise<Void>) { self.freed = freed }

        deinit { freed.succeed(()) }

        func keepContext() { kept = context }
        func dropContext() { kept = nil }
        func use() {}
    }

    @Test func `Law 10: an actor is freed once its contexts and their jobs are freed`() async throws
    {
        let freed = Promise<Void>()
        do {
            let keeper = Keeper(freed)
            let context = keeper.context
            try await context.run { keeper.assumeIsolated { $0.use() } }
            _ = context.submit {}
        }
        try await freed.async.get()
    }

    @Test
    func `Law 10: an actor that stores its own context lives until it releases the context`()
        async throws
    {
        let freed = Promise<Void>()
        weak var keeper: Keeper?
        do {
            let actor = Keeper(freed)
            await actor.keepContext()
            keeper = actor
        }
        #expect(!freed.async.isCompleted)
        await keeper?.dropContext()
        try await freed.async.get()
    }
}
