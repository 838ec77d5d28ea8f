import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The shipped `Async` under hundreds of schedules; a token replays each one that fails.
@Suite(.patient)
struct AsyncScheduleTests {
    @Test
    func
        `Laws 24, 25, 33: under every schedule one completion wins and notifies every callback once`()
        async
    {
        await underEverySchedule("completion against cancel") { sim, onlooker in
            let (promise, main) = (Promise<Int>(), sim.main)
            sim.spawn("succeeds") { if promise.succeed(1) { onlooker.note("won: success(1)") } }
            sim.spawn("fails") { if promise.fail(Oops()) { onlooker.note("won: failure") } }
            sim.spawn("cancels") { if promise.async.cancel() { onlooker.note("won: failure") } }
            for name in ["a", "b"] {
                sim.spawn(name) {
                    for index in 0..<2 {
                        promise.async.onComplete(on: main) { _ in onlooker.note("\(name) \(index)")
                        }
                    }
                    promise.async.onComplete { outcome in
                        let won =
                            if case .success(let value) = outcome { "success(\(value))" } else {
                                "failure"
                            }
                        onlooker.note("\(name) notified of \(won)")
                    }
                }
                sim.finally("\(name) was notified once, in order, of the winner") {
                    let winner = onlooker.log.first { $0.hasPrefix("won: ") }!.dropFirst(5)
                    return onlooker.log.filter { $0 == "\(name) 0" || $0 == "\(name) 1" }
                        == ["\(name) 0", "\(name) 1"]
                        && onlooker.log.filter { $0.hasPrefix("\(name) notified") } == [
                            "\(name) notified of \(winner)"
                        ]
                }
            }
            sim.finally("one completion has won") {
                onlooker.log.count { $0.hasPrefix("won") } == 1
            }
        }
    }

    @Test
    func `Laws 24, 33: under every schedule all returns the values in the order of its sources`()
        async
    {
        await underEverySchedule("all") { sim, onlooker in
            let promises = (0..<3).map { _ in Promise<Int>() }
            for (index, promise) in promises.enumerated() {
                sim.spawn("part \(index)") {
                    onlooker.expect(promise.succeed(index), "a completion was refused")
                }
            }
            sim.spawn("waiter") {
                let all = Async.all(promises.map(\.async))
                all.onComplete { _ in onlooker.note("notified") }
                onlooker.expect(
                    (try? all.wait()) == [0, 1, 2], "values are missing or out of order")
            }
            sim.finally("notified once") { onlooker.count("notified") == 1 }
        }
    }

    @Test
    func
        `Laws 24, 26, 33: under every schedule the first source wins, the others end or are cancelled`()
        async
    {
        await underEverySchedule("first") { sim, onlooker in
            let promises = (0..<3).map { _ in Promise<Int>() }
            for (index, promise) in promises.enumerated() {
                promise.onCancel { onlooker.note("cancelled \(index)") }
            }
            sim.spawn("waiter") {
                let first = Async.first(of: promises.map(\.async))
                first.onComplete { _ in onlooker.note("notified") }
                let winner = try first.wait()
                onlooker.note("winner \(winner)")
            }
            for (index, promise) in promises.enumerated() {
                sim.spawn("runner \(index)") {
                    if promise.succeed(index) { onlooker.note("done \(index)") }
                }
                sim.finally("runner \(index) was done or cancelled") {
                    onlooker.count("done \(index)") + onlooker.count("cancelled \(index)") == 1
                        && onlooker.count("winner \(index)") <= onlooker.count("done \(index)")
                }
            }
            sim.finally("notified once") { onlooker.count("notified") == 1 }
        }
    }

    @Test
    func `Laws 7, 26, 33: under every schedule a value is in time, or the time limit cancels it`()
        async
    {
        await underEverySchedule("timeout", schedules: 600, time: .racing) { sim, onlooker in
            let (promise, timers) = (Promise<Int>(), sim.serial(named: "timers"))
            promise.onCancel { onlooker.note("cancelled") }
            sim.spawn("caller") {
                let limited = promise.async.timeout(after: .seconds(1), on: timers)
                limited.onComplete { outcome in
                    if case .success = outcome { return onlooker.note("value") }
                    onlooker.note("late")
                    onlooker.expect(
                        sim.time.now.nanoseconds >= 1_000_000_000, "the time limit was early")
                }
                _ = try? limited.wait()
            }
            sim.spawn("network") { onlooker.note(promise.succeed(1) ? "done" : "refused") }
            sim.finally("ended once") { onlooker.count("value") + onlooker.count("late") == 1 }
            sim.finally("a value was completed, and a refused completion was cancelled") {
                onlooker.count("value") <= onlooker.count("done")
                    && onlooker.count("refused") == onlooker.count("cancelled")
            }
        }
    }

    @Test
    func
        `Laws 1, 13, 33: under every schedule a job runs or is cancelled, and its future says which`()
        async
    {
        await underEverySchedule("submit against cancel") { sim, onlooker in
            let context = sim.serial(named: "context")
            sim.spawn("caller") {
                let future = context.submit { onlooker.visit("ran") }
                sim.spawn("impatient") { future.cancel() }
                do {
                    try future.wait()
                    onlooker.note("value")
                } catch {
                    onlooker.expect(error is CancellationError, "\(error)")
                }
            }
            sim.finally("the job ran if and only if its future has a value") {
                onlooker.count("ran") == onlooker.count("value")
            }
        }
    }

    @Test
    func
        `Laws 25, 33: under every schedule no callback runs after its context invalidated its token`()
        async
    {
        await underEverySchedule("callback with a token") { sim, onlooker in
            let (promise, main, token) = (Promise<Int>(), sim.main, InvalidationToken())
            sim.spawn("screen") {
                promise.async.onComplete(on: main, while: token) { _ in
                    onlooker.visit("notified")
                    onlooker.expect(
                        onlooker.count("invalidated") == 0, "notified after the invalidation")
                }
            }
            sim.spawn("network") { promise.succeed(1) }
            sim.spawn("user") {
                main.execute {
                    token.invalidate()
                    onlooker.note("invalidated")
                }
            }
            sim.finally("notified once at most") { onlooker.count("notified") <= 1 }
        }
    }

    @Test
    func `Laws 26, 33: under every schedule a promise that its last owner drops is abandoned`()
        async
    {
        await underEverySchedule("dropped promise") { sim, onlooker in
            let owners = [Box<Promise<Int>?>(nil), Box<Promise<Int>?>(nil)]
            let future: Async<Int>
            do {
                let promise = Promise<Int>()
                for owner in owners { owner.value = promise }
                future = promise.async
            }
            sim.spawn("drops") { owners[0].value = nil }
            sim.spawn("drops, too") { owners[1].value = nil }
            sim.spawn("waits") {
                future.onComplete { _ in onlooker.note("notified") }
                do { _ = try future.wait() } catch AsyncError.abandoned {
                    onlooker.note("abandoned")
                }
            }
            sim.finally("notified once") {
                onlooker.count("notified") == 1 && onlooker.count("abandoned") == 1
            }
        }
    }

    @Test
    func
        `Laws 25, 33: under every schedule a wrapped handler runs once, and its second call is reported`()
        async
    {
        await underEverySchedule("handler called twice") { sim, onlooker in
            let main = sim.main
            let handler = main.callback(
                { onlooker.visit("ran") }, onFault: { onlooker.note("\($0.reason)") })
            for name in ["a", "b"] { sim.spawn(name) { handler() } }
            sim.finally("once") { onlooker.count("ran") == 1 && onlooker.count("calledAgain") == 1 }
        }
    }

    @Test func `Laws 25, 33: under every schedule a wrapped handler runs, or its drop is reported`()
        async
    {
        await underEverySchedule("handler dropped") { sim, onlooker in
            let main = sim.main
            let kept = Box<(@Sendable () -> Void)?>(nil)
            kept.value = main.callback(
                { onlooker.visit("ran") }, onFault: { onlooker.note("\($0.reason)") })
            sim.spawn("calls") {
                let handler = kept.withValue { $0.take() }
                handler?()
            }
            sim.spawn("forgets") { _ = kept.withValue { $0.take() } }
            sim.finally("ran or was reported") {
                onlooker.count("ran") + onlooker.count("neverCalled") == 1
            }
        }
    }
}
