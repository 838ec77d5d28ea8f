import ExecutionContexts
import ExecutionContextsTesting

/// Work that ends twice, or continues after it was cancelled.
extension SeededBug {
    static let cancelling: [SeededBug] = [
        doubleCompletion, lateHop, forgottenWatchdog, lostCancel, replacedCaller,
    ]

    /// A cache and the network both answer, and each checks first whether the other has.
    static let doubleCompletion = SeededBug("double completion", .invariant, depth: 1) {
        sim, isMended in
        let (answer, completions) = (Promise<String>(), Tracked(0, name: "completions"))
        let calls = CriticalSection(name: "calls")
        for source in ["cache", "network"] {
            sim.spawn(source) {
                if isMended {
                    guard answer.succeed(source) else { return }
                } else {
                    if answer.async.isCompleted { return }
                    answer.succeed(source)
                }
                calls.execute { completions.value += 1 }
            }
        }
        sim.invariant("one completion") { completions.value <= 1 }
    }

    /// The token is checked where the job is submitted, and not where it runs.
    static let lateHop = SeededBug("work after the invalidation", .invariant, depth: 1) {
        sim, isMended in
        let (main, decoding) = (sim.main, sim.serial(named: "decoding"))
        let (token, isGone) = (InvalidationToken(), Tracked(false, name: "cell reused"))
        let isWrong = Tracked(false, name: "picture in a wrong cell")
        sim.spawn("list") {
            main.execute {
                token.invalidate()
                isGone.value = true
            }
        }
        sim.spawn("loader") {
            decoding.valid(while: token).execute {
                let show: Work = { if isGone.value { isWrong.value = true } }
                if isMended { main.valid(while: token).execute(show) } else { main.execute(show) }
            }
        }
        sim.invariant("no picture for a cell that has gone") { !isWrong.value }
    }

    /// The watchdog of a request is set after the answer has tried to cancel it.
    static let forgottenWatchdog = SeededBug("watchdog left behind", .leftover, depth: 1) {
        sim, isMended in
        let (timers, section) = (sim.serial(named: "timers"), CriticalSection(name: "request"))
        let (watchdog, isDone) = (
            Tracked<DelayedWork?>(nil, name: "watchdog"), Tracked(false, name: "done")
        )
        sim.spawn("request") {
            section.execute {
                if isMended && isDone.value { return }
                watchdog.value = timers.schedule(after: .seconds(7_200)) {}
            }
        }
        sim.spawn("answer") {
            section.execute {
                isDone.value = true
                watchdog.value?.cancel()
            }
        }
    }

    /// A cancel that comes before the job is submitted finds nothing to cancel.
    static let lostCancel = SeededBug("cancel before the start is lost", .invariant, depth: 1) {
        sim, isMended in
        let (network, section) = (sim.serial(named: "network"), CriticalSection(name: "request"))
        let (handle, isCancelled) = (
            Tracked<Async<Void>?>(nil, name: "handle"), Tracked(false, name: "cancelled")
        )
        let (isUnwanted, isWrong) = (
            Tracked(false, name: "unwanted"), Tracked(false, name: "sent when unwanted")
        )
        sim.spawn("request") {
            section.execute {
                if isMended && isCancelled.value { return }
                handle.value = network.submit { if isUnwanted.value { isWrong.value = true } }
            }
        }
        sim.spawn("user") {
            network.execute {
                section.execute {
                    isCancelled.value = true
                    handle.value?.cancel()
                }
                isUnwanted.value = true
            }
        }
        sim.invariant("what was cancelled is not sent") { !isWrong.value }
    }

    /// One slot for a waiting caller: a second one takes it, and drops the promise of the first.
    static let replacedCaller = SeededBug("promise dropped on one path", .threw, depth: 1) {
        sim, isMended in
        let section = CriticalSection(name: "slot")
        let (waiting, stored) = (
            Tracked<[Promise<Int>]>([], name: "waiting"), Tracked<Int?>(nil, name: "stored")
        )
        sim.spawn("loader") {
            let promises = section.execute {
                stored.value = 7
                return waiting.value
            }
            for promise in promises { promise.succeed(7) }
        }
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                let answer = section.execute { () -> Async<Int> in
                    if let value = stored.value { return Async(.success(value)) }
                    let promise = Promise<Int>()
                    waiting.value = isMended ? waiting.value + [promise] : [promise]
                    return promise.async
                }
                _ = try answer.wait()
            }
        }
    }
}
