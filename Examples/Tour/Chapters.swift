import ExecutionContexts
import ExecutionContextsTesting
import Foundation

let contexts = Chapter(name: "contexts", title: "A context is a place where work runs") {
    // A function takes `some ExecutionContext`, and its caller says where.
    func place(of context: some ExecutionContext) -> String {
        let caller = ObjectIdentifier(Thread.current)
        let done = DispatchSemaphore(value: 0)
        let place = Log()
        context.execute {
            let isCaller = ObjectIdentifier(Thread.current) == caller
            place.add(isCaller ? "the caller's thread" : "a thread of its own choice")
            done.signal()
        }
        done.wait()
        return place.entries[0]
    }
    say(".immediate", place(of: .immediate))
    say(".global", place(of: .global))
    say(".serial(label: \"database\")", place(of: .serial(label: "database")))
    say(".blocking", place(of: .blocking))
    say(".thread(name: \"affine\")", place(of: .thread(name: "affine")))
    say(
        ".main, and the main actor there", try await MainContext().run { MainActor.assumeIsolated { "held" } }
    )
}

let views = Chapter(name: "views", title: "A view adds order to any context, and loses nothing") {
    let context: any ExecutionContext = .global
    let serial = context.serial("ledger").named("ledger")
    let ledger = Ledger()
    // Four submitters, one line: no lock, no lost update (law 2).
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
            group.addTask { for _ in 0..<2_500 { serial.execute { ledger.add(1) } } }
        }
    }
    say("10,000 unguarded additions on one serial view", try await serial.run { ledger.total })
    say("its name, through two wrappers", serial.name)
}

let limits = Chapter(name: "limits", title: "Limits, barriers and bounds over a shared pool") {
    let meter = Meter()
    let limited = GlobalContext().limited(to: 2)
    for _ in 0..<200 {
        limited.execute {
            meter.enter(); meter.leave()
        }
    }
    await withCheckedContinuation { done in limited.executeBarrier { done.resume() } }
    say("200 pieces, limited to 2: most at a time", "\(meter.most), never above 2")

    let paused = ManualContext()
    let bounded = paused.bounded(2, overflow: .refuse)
    let answers = (1...3).map { number in
        Result { () throws(Refusal) in try bounded.tryExecute { _ = number } }
    }
    say("room for 2, and a third comes", (try? answers[2].get()) == nil ? "refused, and says so" : "?")
    paused.runReady()
}

let delays = Chapter(name: "delays", title: "Delays: never early, in order, and cancel says who won") {
    let context = GlobalContext().serial("timers")
    let log = Log()
    context.schedule(after: .milliseconds(20)) { log.add("second") }
    context.schedule(after: .milliseconds(10)) { log.add("first") }
    let cancelled = context.schedule(after: .milliseconds(15)) { log.add("never") }
    say("cancelling in time", cancelled.cancel() ? "cancelled" : "too late")
    await withCheckedContinuation { done in
        context.schedule(after: .milliseconds(20)) { done.resume() }
    }
    say("what ran, in order", log.entries.joined(separator: ", "))
}

let virtualTime = Chapter(name: "time", title: "Under a manual context an hour takes no time") {
    let context = ManualContext()
    let log = Log()
    let backup = context.named("backup").repeat(every: .seconds(600)) { log.add("backup") }
    context.advance(by: .seconds(3_600))
    backup.cancel()
    say("backups in an hour of virtual time", log.entries.count)
    say("left behind", "\(context.delayedCount) delays")
}

let whereAmI = Chapter(name: "where", title: "Where am I: yes, no, or not known - never a false yes") {
    let view = GlobalContext().serial("view")
    say("outside the view", view.isCurrent.map(String.init) ?? "not known")
    say("inside it", try await view.run { view.isCurrent.map(String.init) ?? "not known" })
    let inside = try await view.run {
        DispatchQueue(label: "other").sync { view.isCurrent.map(String.init) ?? "not known" }
    }
    say("inside it, in another queue's sync", inside)
}

let bothWorlds = Chapter(name: "worlds", title: "The same context runs closures, tasks and actors") {
    let context = GlobalContext().serial("store")
    let store = Store(on: context)
    for amount in 1...100 { await store.add(amount) }
    say("an actor on a serial view", await store.total)
    say(
        "and its state, from a plain closure there",
        try await context.run { store.assumeIsolated { $0.total } })
    let task = Task(executorPreference: context.taskExecutor) { context.isCurrent == true }
    say("a task that prefers the context runs on it", await task.value)
}
