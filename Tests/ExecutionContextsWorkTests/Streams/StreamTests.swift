import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Async sequences of ticks and events, and sequences that a context consumes.
@Suite(.patient)
struct StreamTests {
    private struct Wrong: Error, Equatable {}

    /// Takes one tick for each element of `requests`, and sends its second.
    private static func consume(
        _ ticks: Ticks, _ requests: Channel<Void>, _ seconds: Channel<Int64>
    ) -> Task<Void, any Error> {
        startedTask {
            var iterator = ticks.makeAsyncIterator()
            for await _ in requests {
                guard let tick = await iterator.next(isolation: nil) else { return }
                let start = ContextInstant(nanoseconds: 0)
                try await seconds.send(start.duration(to: tick).components.seconds)
            }
        }
    }

    /// Asks for a tick, and advances the time when the consumer waits for it.
    private static func tick(
        _ context: ManualContext, _ requests: Channel<Void>, _ seconds: Channel<Int64>,
        after delays: Duration...
    ) async throws -> Int64? {
        try requests.trySend(())
        while context.delayedCount == 0 { await Task.yield() }
        for delay in delays {
            #expect(seconds.tryReceive() == nil)
            context.advance(by: delay)
        }
        return try await seconds.receive()
    }

    @Test func `Law 7: ticks come on the grid of their period, never early`() async throws {
        let context = ManualContext()
        let (requests, seconds) = (Channel<Void>(), Channel<Int64>())
        let consumer = Self.consume(context.ticks(every: .seconds(2)), requests, seconds)
        for second in [2, 4, 6] as [Int64] {
            let tick = try await Self.tick(
                context, requests, seconds, after: .seconds(1), .seconds(1))
            #expect(tick == second)
            while requests.description.hasSuffix("0 receivers wait") { await Task.yield() }
        }
        requests.close()
        try await consumer.value
    }

    @Test(arguments: [
        (DriftPolicy.skip, Duration.seconds(1), [2, 6] as [Int64]),
        (.catchUp, .zero, [2, 4]), (.fixedDelay, .seconds(2), [2, 7]),
    ])
    func `Law 7: a consumer that is late gets its next tick by the policy`(
        _ policy: DriftPolicy, _ delay: Duration, _ expected: [Int64]
    ) async throws {
        let context = ManualContext()
        let (requests, seconds) = (Channel<Void>(), Channel<Int64>())
        let consumer = Self.consume(
            context.ticks(every: .seconds(2), policy: policy), requests, seconds)
        let first = try await Self.tick(context, requests, seconds, after: .seconds(2))
        #expect(first == expected[0])
        while requests.description.hasSuffix("0 receivers wait") { await Task.yield() }
        context.advance(by: .seconds(3))
        let second = try await Self.tick(context, requests, seconds, after: delay)
        #expect(second == expected[1])
        requests.close()
        try await consumer.value
    }

    @Test func `Law 13: ticks end when their task is cancelled`() async throws {
        let context = ManualContext()
        let loop = startedTask {
            var count = 0
            for await _ in context.ticks(every: .seconds(1)) { count += 1 }
            return count
        }
        loop.cancel()
        #expect(try await loop.value == 0)
        #expect(context.delayedCount == 0)
    }

    @Test func `Law 7: a period of zero traps`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = GlobalContext().ticks(every: .zero)
        }
        try expectTrap(result, "law 7", "positive period")
    }

    // MARK: - forEach

    @Test
    func `Law 36: a context gets the elements in order, and no more than the limit at a time`()
        async throws
    {
        for limit in [1, 3] {
            let context = ManualContext()
            let channel = Channel<Int>(capacity: 100)
            for element in 0..<10 { try channel.trySend(element) }
            channel.close()
            let seen = Box<[Int]>([])
            let most = Box(0)
            let end = channel.forEach(on: context, atMost: limit) { element in
                seen.withValue { $0.append(element) }
            }
            while !end.isCompleted {
                let count = context.readyCount
                most.withValue { $0 = max($0, count) }
                context.runReady()
                await Task.yield()
            }
            try await end.get()
            #expect(seen.value == Array(0..<10))
            #expect(most.value <= limit)
        }
    }

    @Test func `Law 36: the first error ends a forEach, and no later call begins`() async throws {
        let channel = Channel<Int>(capacity: 10)
        for element in 0..<10 { try channel.trySend(element) }
        let seen = Box<[Int]>([])
        let end = channel.forEach(on: .global.serial(named: "consumer")) { element in
            seen.withValue { $0.append(element) }
            if element == 3 { throw Wrong() }
        }
        await #expect(throws: Wrong()) { try await end.get() }
        #expect(seen.value == [0, 1, 2, 3])
        #expect(channel.tryReceive() == 4)
    }

    @Test func `Law 36: cancelling a forEach ends its iteration, and drops calls that wait`()
        async throws
    {
        let context = ManualContext()
        let channel = Channel<Int>()
        let seen = Box(0)
        let end = channel.forEach(on: context, atMost: 2) { _ in seen.withValue { $0 += 1 } }
        try await channel.send(1)
        end.cancel()
        await #expect(throws: CancellationError.self) { try await end.get() }
        context.runReady()
        #expect(seen.value == 0)
    }

    @Test func `Law 36: no call begins while the subscribers of a cancelled forEach are notified`()
        async throws
    {
        let context = ManualContext()
        let channel = Channel<Int>()
        let seen = Box(0)
        let end = channel.forEach(on: context) { _ in seen.withValue { $0 += 1 } }
        end.onFailure { _ in context.runReady() }
        try await channel.send(1)
        while context.readyCount == 0 { await Task.yield() }
        end.cancel()
        #expect(seen.value == 0)
    }

    @Test func `Law 1: a context that refuses ends a forEach with its refusal`() async throws {
        let pool = WorkerPool(name: "closed", width: 1)
        try await pool.shutDown().get()
        let channel = Channel<Int>(capacity: 1)
        try channel.trySend(1)
        let end = channel.forEach(on: pool) { _ in }
        await #expect(throws: Refusal.self) { try await end.get() }
    }

    @Test func `Law 36: closures of the main actor consume a sequence, and end with their owner`()
        async throws
    {
        @MainActor final class Gallery {
            private(set) var pictures: [Int] = []
            private let scope = CancellationScope()
            init(_ pictures: Channel<Int>, on ui: any MainActorContext, _ isOver: Box<Bool>) {
                pictures.forEach(on: ui) { [weak self] in self?.pictures.append($0) }
                    .onComplete(on: ui) { _ in isOver.value = true }
                    .stored(in: scope)
            }
        }
        let (channel, isOver) = (Channel<Int>(capacity: 3), Box(false))
        let ui = ManualMainContext()
        var gallery: Gallery? = await Gallery(channel, on: ui, isOver)
        for picture in 1...3 { try await channel.send(picture) }
        while await gallery?.pictures.isEmpty == true {
            await ui.runReady()
            await Task.yield()
        }
        gallery = nil
        await ui.runReady()
        #expect(isOver.value)
        _ = try? await ui.finish()
    }

    @Test func `Law 36: the error of a sequence comes after the calls of the elements before it`()
        async throws
    {
        let source = AsyncThrowingStream<Int, any Error> { stream in
            for element in 0..<3 { stream.yield(element) }
            stream.finish(throwing: Wrong())
        }
        let seen = Box<[Int]>([])
        let end = source.forEach(on: .global.serial(named: "consumer"), atMost: 5) { element in
            seen.withValue { $0.append(element) }
        }
        await #expect(throws: Wrong()) { try await end.get() }
        #expect(seen.value == [0, 1, 2])
    }

    // MARK: - Events of work

    private static func flight(_ context: ManualContext) -> (
        SingleFlight<Int, Int>, Box<Flight<Int>?>
    ) {
        let flight = Box<Flight<Int>?>(nil)
        let flights = SingleFlight<Int, Int>(on: context) { _, new in flight.value = new }
        return (flights, flight)
    }

    @Test func `Law 31: a slow consumer gets the latest progress, and the end last`() async throws {
        let context = ManualContext()
        let (flights, flight) = Self.flight(context)
        var iterator = flights[1].events().makeAsyncIterator()
        context.runReady()
        let work = try #require(flight.value)
        for completed in 1...5 { work.report(WorkProgress(completed: Int64(completed), total: 5)) }
        context.runReady()
        work.yield(6)
        work.succeed(7)
        context.runReady()
        var texts: [String] = []
        while let event = await iterator.next(isolation: nil) { texts.append(event.text) }
        #expect(texts == ["5 of 5", "nearly 6", "7"])
    }

    @Test func `Law 31: leaving the loop leaves the work, which ends with its last subscriber`()
        async throws
    {
        let context = ManualContext()
        let (flights, flight) = Self.flight(context)
        do {
            let iterator = flights[1].events().makeAsyncIterator()
            context.runReady()
            withExtendedLifetime(iterator) { #expect(flight.value?.isCancelled == false) }
        }
        context.runReady()
        #expect(flight.value?.isCancelled == true)
    }

    @Test func `Law 31: a task that is cancelled while it waits for an event leaves the work`()
        async throws
    {
        let context = ManualContext()
        let (flights, flight) = Self.flight(context)
        let loop = startedTask {
            var count = 0
            for await _ in flights[1].events() { count += 1 }
            return count
        }
        context.runReady()
        #expect(flight.value?.isCancelled == false)
        loop.cancel()
        #expect(try await loop.value == 0)
        context.runReady()
        #expect(flight.value?.isCancelled == true)
    }

    @Test func `Law 1: a context that drops the subscription ends the events with a refusal`()
        async throws
    {
        let context = ManualContext()
        let (flights, _) = Self.flight(context)
        var iterator = flights[1].events().makeAsyncIterator()
        try? context.finish()
        let event = await iterator.next(isolation: nil)
        #expect(throws: Refusal.self) { try event?.outcome?.get() }
        #expect(await iterator.next(isolation: nil) == nil)
    }
}
