import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Everything else of the library that hands jobs to a context, over contexts that drop them.
///
/// Works and confined values: `DropPlayTests`.
@Suite(.patient)
struct DroppedJobTests {
    /// What a body captures.
    private final class Witness: Sendable {
        private let live: Box<Int>
        init(_ live: Box<Int>) {
            self.live = live
            live.withValue { $0 += 1 }
        }
        deinit { live.withValue { $0 -= 1 } }
    }

    @Test(arguments: Dropper.Way.allCases)
    func `Laws 1, 10: a queue, a limiter and paced calls answer for what their context drops`(
        _ way: Dropper.Way
    ) {
        for seed in seeds(debug: 10, release: 200) {
            var rng = SeededRNG(seed: seed)
            let (base, live) = (ManualContext(), Box(0))
            let dropper = Dropper(way, over: base, seed: seed)
            let context = dropper.context
            let queue = PrioritizedQueue(on: context, limit: 2)
            let limiter = RateLimiter(on: context, rate: 2, burst: 2)
            let handing = RateLimiter(on: queue.context(), rate: 2, burst: 2)
            let last = context.debounced(by: .seconds(1)) { (_: Witness) in }
            let window = context.throttled(to: .seconds(1), .latest) { (_: Witness) in }
            var asyncs: [(kind: Int, async: Async<Int>)] = []
            var drained: [Async<Void>] = []
            let spoilt = rng.next(below: 40)
            for number in 0..<60 {
                if number == spoilt { dropper.spoil() }
                let (witness, kind) = (Witness(live), rng.next(below: 16))
                let body: @Sendable () -> Int = { withExtendedLifetime(witness) { 1 } }
                let deadline = rng.next(below: 3)
                let async: Async<Int>? = withDeadline(in: .seconds(deadline), on: base) {
                    switch kind {
                    case 0: return queue.submit(priority: .high, body).async
                    case 1: return queue.submitOpen { $0.succeed(body()) }.async
                    case 2: return queue.submit(after: .seconds(1), body)
                    case 3: return queue.context(priority: .low).submit(body)
                    case 4, 5: return limiter.submit(body)
                    case 6: return handing.submit(body)
                    case 7: queue.execute { _ = body() }
                    case 8: limiter.execute { _ = body() }
                    case 9: last(witness)
                    case 10: window(witness)
                    case 11: drained.append(queue.drained())
                    case 12: asyncs.randomElement(using: &rng)?.async.cancel()
                    case 13: base.advance(by: .seconds(1))
                    case 14: _ = dropper.dropKept()
                    default: base.runReady()
                    }
                    return nil
                }
                if let async { asyncs.append((kind, async)) }
            }
            var quiet = 0
            while quiet < 3 {
                let (hasDropped, ran) = (dropper.dropKept(), base.runReady())
                quiet = hasDropped || ran > 0 || base.delayedCount > 0 ? 0 : quiet + 1
                base.advance(by: .seconds(1))
            }
            let hanging = asyncs.filter { $0.async.outcome == nil }.map { $0.kind }
            #expect(hanging.isEmpty, "\(way), seed \(seed)")
            #expect(drained.allSatisfy { $0.outcome != nil }, "\(way), seed \(seed)")
            #expect(queue.pendingCount + queue.runningCount == 0, "\(way), seed \(seed)")
            #expect(limiter.pendingCount + handing.pendingCount == 0, "\(way), seed \(seed)")
            asyncs = []
            #expect(live.value == 0, "\(way), seed \(seed)")
        }
    }

    @Test(arguments: Dropper.Way.allCases)
    func `Laws 1, 36: what is awaited ends on a context that drops its jobs`(
        _ way: Dropper.Way
    ) async {
        for seed in seeds(debug: 4, release: 40) {
            var rng = SeededRNG(seed: seed)
            let base = GlobalContext().serial(named: "base")
            let dropper = Dropper(way, over: base, seed: seed)
            let context = dropper.context
            let queue = PrioritizedQueue(on: context, limit: 2)
            let limited = limitedTask(on: context)
            let flights = SingleFlight<Int, Int>(on: context) { key, flight in
                flight.follow(context.submit { key })
            }
            let confined = Confined(0, to: context)
            let pending = Box(0)
            let spoilt = rng.next(below: 20)
            for number in 0..<20 {
                if number == spoilt { dropper.spoil() }
                let kind = rng.next(below: 7)
                pending.withValue { $0 += 1 }
                let task = Task.detached {
                    switch kind {
                    case 0: _ = try? await queue.submitTask { await Task.yield() }.async.get()
                    case 1:
                        let numbers = AsyncStream<Int> { numbers in
                            for number in 0..<3 { numbers.yield(number) }
                            numbers.finish()
                        }
                        _ = try? await numbers.forEach(on: context, atMost: 2) { _ in }.get()
                    case 2: for await _ in context.ticks(every: .microseconds(10)) { break }
                    case 3: _ = try? await limited()
                    case 4: _ = try? await flights[1].value().getOrCancel()
                    case 5: for await _ in flights[2].events() {}
                    default: _ = try? await confined.run { $0 += 1 }
                    }
                    pending.withValue { $0 -= 1 }
                }
                if rng.next(below: 4) == 0 { task.cancel() }
                if rng.next(below: 3) == 0 { await Task.yield() }
            }
            // What the context keeps it drops only when it is told to.
            while pending.value > 0 {
                _ = dropper.dropKept()
                await Task.yield()
            }
        }
    }

    private func limitedTask(
        on context: some ExecutionContext
    ) -> @Sendable () async throws -> Void {
        let limiter = context.limitedTasks(to: 2)
        return { try await limiter.runTask { await Task.yield() } }
    }
}
