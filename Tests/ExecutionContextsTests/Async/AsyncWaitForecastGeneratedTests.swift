import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Random futures over a context that the caller keeps busy (law 27).
///
/// What a future depends on is drawn. Then everything runs that does not need the caller's thread:
/// the promises complete, and the other context's jobs and delays run. What is still pending then
/// cannot complete without the caller.
@Suite(.patient)
struct AsyncWaitForecastGeneratedTests {
    @Test(arguments: ["queue", "view", "named", "ending"])
    func
        `Law 27: a forecast of an endless wait is always right, and is made once nothing else runs`(
            _ kind: String
        ) async
    {
        await watched {
            let busy: any SerialContext =
                switch kind {
                case "queue": SerialQueueContext(name: "busy")
                case "view": GlobalContext().serial(named: "busy")
                case "named": SerialQueueContext(name: "queue").named("busy").serial()
                default: EndingSerialContext(on: .global, named: "busy")
                }
            var endless = 0
            let seeds = seeds(debug: 400, release: 4000)
            for seed in seeds {
                let isEndless = Box(false)
                let end = busy.submit {
                    var drawing = Drawing(seed: seed, busy: busy)
                    isEndless.value = drawing.check()
                }
                _ = try? end.wait()
                if isEndless.value { endless += 1 }
            }
            // Neither is rare, so the test compares both.
            #expect(endless > seeds.count / 20 && endless < seeds.count - seeds.count / 20)
        }
    }
}

/// One random future and what it depends on.
private struct Drawing {
    let seed: UInt64
    private var random: SeededRNG
    private let busy: any ExecutionContext
    private let other = ManualContext(name: "other")
    private var promises: [Promise<Int>] = []
    private var futures: [Async<Int>] = []

    init(seed: UInt64, busy: any ExecutionContext) {
        self.seed = seed
        self.busy = busy
        random = SeededRNG(seed: seed)
    }

    /// Checks each drawn future before and after everything else has run; true if the last one can
    /// never complete meanwhile.
    mutating func check() -> Bool {
        for _ in 0...random.next(below: 6) { futures.append(leaf()) }
        for _ in 0...random.next(below: 8) { futures.append(derived()) }
        // A lazy future begins.
        for future in futures { future.onComplete { _ in } }
        let before = futures.map(\.endlessWait)
        let (promises, other) = (promises, other)
        let outcomes = promises.map { _ in random.next(below: 2) == 0 }
        for (promise, succeeds) in zip(promises, outcomes) {
            if succeeds { promise.succeed(1) } else { promise.fail(Oops()) }
        }
        _ = try? other.runUntilIdle()
        for (index, future) in futures.enumerated() {
            if let obstacle = before[index] {
                #expect(!future.isCompleted, "seed \(seed): \(future): \(obstacle)")
            }
            let after = future.endlessWait
            #expect(
                (after != nil) == !future.isCompleted, "seed \(seed): \(future): \(after ?? "-")")
        }
        let isEndless = futures.last?.isCompleted == false
        for future in futures { future.cancel() }
        try? other.finish()
        return isEndless
    }

    private mutating func leaf() -> Async<Int> {
        switch random.next(below: 6) {
        case 0: return Async(.success(1))
        case 1: return Async(error: Oops())
        case 2: return busy.submit { 1 }
        case 3: return other.submit { 1 }
        default:
            let promise = Promise<Int>()
            promises.append(promise)
            return promise.async
        }
    }

    private mutating func any() -> Async<Int> { futures[random.next(below: futures.count)] }

    private mutating func some() -> [Async<Int>] {
        (0...random.next(below: 3)).map { _ in any() }
    }

    private mutating func derived() -> Async<Int> {
        switch random.next(below: 3) {
        case 0: derived(on: busy)
        case 1: derived(on: other)
        default: derived(on: ImmediateContext())
        }
    }

    private mutating func derived(on context: some ExecutionContext) -> Async<Int> {
        let source = any()
        switch random.next(below: 15) {
        case 0: return source.map(on: context) { $0 }
        case 1: return source.map(on: context) { _ in throw Oops() }
        case 2:
            let inner = any()
            return source.flatMap(on: context) { _ in inner }
        case 3: return source.recover(on: context) { _ in 1 }
        case 4:
            let inner = any()
            return source.flatRecover(on: context) { _ in inner }
        case 5: return source.mapError(on: context) { $0 }
        case 6: return source.andThen(on: context) { _ in }
        case 7:
            // Not in real time: the test does not wait for it.
            return random.next(below: 2) == 0
                ? source.delay(.seconds(1), on: busy) : source.delay(.seconds(1), on: other)
        case 8:
            return random.next(below: 2) == 0
                ? source.timeout(after: .seconds(1000), on: busy)
                : source.timeout(after: .seconds(1000), on: other)
        case 9: return Async.all(some()).map { $0.count }
        case 10: return Async.first(of: some())
        case 11: return Async.firstSuccess(of: some())
        case 12: return Async.allSettled(some()).map { $0.count }
        case 13:
            let attempts = [any(), any()]
            return Async.retry(attempts: 2, on: context) { attempts[$0 - 1] }
        default:
            let inner = any()
            if random.next(below: 2) == 0 { return Async.lazy(on: context) { inner } }
            return Async.traverse(some(), atMost: 1, on: context) { $0 }.map { $0.count }
        }
    }
}
