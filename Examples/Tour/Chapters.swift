import ExecutionContexts
import ExecutionContextsTesting
import Foundation

let contexts = Chapter(name: "contexts", title: "A context is where jobs run") {
    // The function takes `some ExecutionContext`. Its caller chooses where the job runs.
    func place(of context: some ExecutionContext) -> String {
        let caller = ObjectIdentifier(Thread.current)
        let done = DispatchSemaphore(value: 0)
        let place = Log()
        context.execute {
            let isCaller = ObjectIdentifier(Thread.current) == caller
            place.add(isCaller ? "the caller's thread" : "another thread")
            done.signal()
        }
        done.wait()
        return place.entries[0]
    }
    say(".immediate", place(of: .immediate))
    say(".global", place(of: .global))
    say(".serial(named: \"database\")", place(of: .serial(named: "database")))
    say(".blocking", place(of: .blocking))
    say(".thread(named: \"affine\")", place(of: .thread(named: "affine")))
    say(
        ".main",
        try await MainContext().run { MainActor.assumeIsolated { "isolated to the main actor" } }
    )
}

let views = Chapter(name: "views", title: "A view adds order to any context, and drops no job") {
    let context: any ExecutionContext = .global
    let serial = context.serial(named: "ledger").named("ledger")
    let ledger = Ledger()
    // Four submitters, one mailbox: no lock, no lost update (law 2).
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
            group.addTask { for _ in 0..<2_500 { serial.execute { ledger.add(1) } } }
        }
    }
    say("10,000 unsynchronized additions on one serial view", try await serial.run { ledger.total })
    say("its name, through a view and a decorator", serial.name)
}

let limits = Chapter(name: "limits", title: "Limits, barriers and bounds over a shared pool") {
    let limited = await LimitedJobs(count: 12, limit: 2) { compute(for: .milliseconds(2)) }
    say("12 jobs of 2 ms, limited to 2: most at a time", "\(limited.mostAtOnce), never above 2")
    try write(limited.recorder, "limits", title: "The Tour's limits: two jobs at a time")

    let paused = ManualContext()
    let bounded = paused.bounded(to: 2, overflow: .refuse)
    let results = (1...3).map { number in
        Result { () throws(Refusal) in try bounded.tryExecute { _ = number } }
    }
    say("a third job for a queue bounded to 2", (try? results[2].get()) == nil ? "refused" : "?")
    paused.runReady()
}

let delays = Chapter(
    name: "delays", title: "Delays: never early, in order, and cancel returns its success"
) {
    let context = GlobalContext().serial(named: "timers")
    let log = Log()
    context.schedule(after: .milliseconds(20)) { log.add("second") }
    context.schedule(after: .milliseconds(10)) { log.add("first") }
    let cancelled = context.schedule(after: .milliseconds(15)) { log.add("never") }
    say("cancelling before the deadline", cancelled.cancel() ? "cancelled" : "too late")
    await withCheckedContinuation { done in
        context.schedule(after: .milliseconds(20)) { done.resume() }
    }
    say("what ran, in order", log.entries.joined(separator: ", "))
}

let virtualTime = Chapter(
    name: "time", title: "On a manual context, a virtual hour takes no real time"
) {
    let context = ManualContext()
    let log = Log()
    let backup = context.named("backup").schedule(every: .seconds(600)) { log.add("backup") }
    context.advance(by: .seconds(3_600))
    backup.cancel()
    say("backups in an hour of virtual time", log.entries.count)
    say("delays still pending", context.delayedCount)
}

let whereAmI = Chapter(
    name: "where", title: "isCurrent: true, false or unknown, and never a wrong true"
) {
    let view = GlobalContext().serial(named: "view")
    say("outside the view", view.isCurrent.map(String.init) ?? "unknown")
    say("inside it", try await view.run { view.isCurrent.map(String.init) ?? "unknown" })
    let inside = try await view.run {
        DispatchQueue(label: "other").sync { view.isCurrent.map(String.init) ?? "unknown" }
    }
    say("inside it, in another queue's sync", inside)
}

let bothWorlds = Chapter(name: "worlds", title: "The same context runs closures, tasks and actors")
{
    let context = GlobalContext().serial(named: "store")
    let store = Store(on: context)
    for amount in 1...100 { await store.add(amount) }
    say("the state of an actor on a serial view", await store.total)
    say(
        "the same state, from a plain closure on that view",
        try await context.run { store.assumeIsolated { $0.total } })
    let task = Task(executorPreference: context.taskExecutor) { context.isCurrent == true }
    say("a task that prefers the context runs on it", await task.value)
}
