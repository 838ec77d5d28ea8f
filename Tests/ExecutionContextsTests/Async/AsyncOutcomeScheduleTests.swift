import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Winners, completions and lazy futures under hundreds of schedules; a token replays a failure.
@Suite(.patient)
struct AsyncOutcomeScheduleTests {
    @Test
    func
        `Laws 24, 26, 33: under every schedule the winner that is named is the one whose value came`()
        async
    {
        await underEverySchedule("first completion") { sim, onlooker in
            let promises = (0..<3).map { _ in Promise<Int>() }
            for (index, promise) in promises.enumerated() {
                promise.onCancel { onlooker.note("cancelled \(index)") }
            }
            sim.spawn("waiter") {
                let first = try Async.firstCompletion(of: promises.map(\.async)).wait()
                onlooker.expect(
                    (try? first.outcome.get()) == first.index * 10,
                    "\(first.index) has \(first.outcome)")
                onlooker.note("winner \(first.index)")
            }
            for (index, promise) in promises.enumerated() {
                sim.spawn("runner \(index)") {
                    if promise.succeed(index * 10) { onlooker.note("done \(index)") }
                }
                sim.finally("runner \(index) was done or cancelled, and won only if done") {
                    onlooker.count("done \(index)") + onlooker.count("cancelled \(index)") == 1
                        && onlooker.count("winner \(index)") <= onlooker.count("done \(index)")
                }
            }
        }
    }

    @Test func `Laws 24, 33: under every schedule all outcomes are there, of values and errors`()
        async
    {
        await underEverySchedule("all settled") { sim, onlooker in
            let promises = (0..<3).map { _ in Promise<Int>() }
            let all = Async.allSettled(promises.map(\.async))
            for (index, promise) in promises.enumerated() {
                sim.spawn("part \(index)") {
                    if index == 1 { promise.fail(Oops()) } else { promise.succeed(index) }
                }
            }
            sim.spawn("cancels") { if all.cancel() { onlooker.note("cancelled") } }
            sim.spawn("waiter") {
                guard let outcomes = try? all.wait() else { return onlooker.note("none") }
                onlooker.expect(
                    outcomes.map { try? $0.get() } == [0, nil, 2], "outcomes are \(outcomes)")
            }
            sim.finally("there are outcomes unless it was cancelled") {
                onlooker.count("none") == onlooker.count("cancelled")
            }
        }
    }

    @Test func `Laws 25, 33: under every schedule a callback comes after the closure of and-then`()
        async
    {
        await underEverySchedule("and then") { sim, onlooker in
            let promise = Promise<Int>()
            let (store, screen) = (sim.serial(named: "store"), sim.main)
            let stored = promise.async.andThen(on: store) { _ in onlooker.visit("stored") }
            sim.spawn("network") { promise.succeed(1) }
            sim.spawn("registers") {
                stored.onComplete(on: screen) { _ in
                    onlooker.expect(onlooker.count("stored") == 1, "shown before it was stored")
                    onlooker.note("shown")
                }
            }
            sim.finally("each was called once") {
                onlooker.count("stored") == 1 && onlooker.count("shown") == 1
            }
        }
    }

    @Test func `Laws 24, 26, 33: under every schedule a lazy future begins once, or was cancelled`()
        async
    {
        await underEverySchedule("lazy start against cancel") { sim, onlooker in
            let (source, context) = (Promise<Int>(), sim.serial(named: "context"))
            source.onCancel { onlooker.note("source cancelled") }
            let lazy = Async.lazy(on: context) {
                onlooker.visit("begins")
                return source.async
            }
            for name in ["a", "b"] {
                sim.spawn(name) { lazy.onComplete { _ in onlooker.note("\(name) notified") } }
                sim.finally("\(name) was notified once") { onlooker.count("\(name) notified") == 1 }
            }
            sim.spawn("cancels") { if lazy.cancel() { onlooker.note("cancelled") } }
            sim.finally("it began at most once, and what it began was cancelled") {
                // The promise lives until here, so it was not abandoned.
                withExtendedLifetime(source) {
                    onlooker.count("begins") <= 1 && onlooker.count("cancelled") == 1
                        && onlooker.count("source cancelled") == onlooker.count("begins")
                }
            }
        }
    }

    @Test func `Laws 24, 33: under every schedule a lazy future completes for each that waits`()
        async
    {
        await underEverySchedule("lazy start against start") { sim, onlooker in
            let lazy = Async.lazy {
                onlooker.note("begins")
                return Async(.success(7))
            }
            for name in ["a", "b"] {
                sim.spawn(name) {
                    let value = try lazy.map { $0 + 1 }.wait()
                    onlooker.expect(value == 8, "\(name) has \(value)")
                }
            }
            sim.finally("it began once") { onlooker.count("begins") == 1 }
        }
    }

    @Test
    func `Laws 25, 26, 33: under every schedule an iteration has each completion once, or leaves`()
        async
    {
        let failure = await search("completions against cancel", schedules: 300) { sim in
            let onlooker = Onlooker(sim)
            // No thread completes the last one, so the iteration ends by being cancelled.
            let promises = (0..<4).map { _ in Promise<Int>() }
            for (index, promise) in promises.enumerated() {
                promise.onCancel { onlooker.note("cancelled \(index)") }
            }
            let task = Task {
                for await completion in Async.completions(of: promises.map(\.async)) {
                    onlooker.note("has \(completion.index)")
                }
                onlooker.note("ended")
            }
            for (index, promise) in promises.dropLast().enumerated() {
                sim.spawn("part \(index)") {
                    if promise.succeed(index) { onlooker.note("done \(index)") }
                }
            }
            sim.spawn("cancels") { task.cancel() }
            await task.value
            for index in promises.indices {
                sim.finally("\(index) came once, and only if it was done") {
                    let (has, done) = (
                        onlooker.count("has \(index)"), onlooker.count("done \(index)")
                    )
                    return has <= done && done + onlooker.count("cancelled \(index)") == 1
                }
            }
            sim.finally("the iteration ended, and left the last one") {
                withExtendedLifetime(promises) {
                    onlooker.count("ended") == 1 && onlooker.count("cancelled 3") == 1
                }
            }
        }.failure
        #expect(failure == nil)
    }

    @Test
    func
        `Laws 25, 33: under every schedule an iteration that nothing cancels has every completion`()
        async
    {
        let failure = await search("completions", schedules: 300) { sim in
            let onlooker = Onlooker(sim)
            let promises = (0..<3).map { _ in Promise<Int>() }
            for (index, promise) in promises.enumerated() {
                sim.spawn("part \(index)") { promise.succeed(index) }
            }
            var seen: [Int] = []
            for await completion in Async.completions(of: promises.map(\.async)) {
                seen.append(completion.index)
            }
            onlooker.expect(seen.sorted() == [0, 1, 2], "it has \(seen)")
            sim.finally("nothing is wrong") { try onlooker.check() }
        }.failure
        #expect(failure == nil)
    }
}
