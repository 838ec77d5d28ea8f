import ExecutionContexts
import ExecutionContextsTesting

/// Time limits and delays that race with work.
extension SeededBug {
    static let timed: [SeededBug] = [
        timeout, cancelledTooLate, twiceCharged, droppedEvent, withoutLock,
    ]

    /// The time limit and the answer each check whether the other was first.
    static let timeout = SeededBug(
        "timeout against completion", .invariant, depth: 2, time: .racing
    ) {
        sim, isMended in
        let (timers, network) = (sim.serial(named: "timers"), sim.serial(named: "network"))
        let (isDone, endings) = (
            Tracked(false, name: "done"), Tracked<[String]>([], name: "endings")
        )
        let section = CriticalSection(name: "ending")
        @Sendable func end(_ how: String) {
            let first = { @Sendable () -> Bool in
                defer { isDone.value = true }
                return !isDone.value
            }
            if isMended ? section.execute(first) : first() {
                section.execute { endings.value += [how] }
            }
        }
        sim.spawn("caller") {
            let limit = timers.schedule(after: .seconds(1)) { end("timed out") }
            network.execute {
                end("answered")
                limit.cancel()
            }
        }
        sim.finally("one ending") { endings.value.count == 1 }
    }

    /// The delay is cancelled after it has run, and the job that it submitted still runs.
    static let cancelledTooLate = SeededBug(
        "delay fires after its cancel", .invariant, depth: 2, time: .racing
    ) {
        sim, isMended in
        let (main, timers) = (sim.main, sim.serial(named: "timers"))
        let (isPlaying, isHidden) = (
            Tracked(false, name: "playing"), Tracked(false, name: "hidden")
        )
        sim.spawn("player") {
            let hiding = timers.schedule(after: .seconds(3)) {
                main.execute { if !isMended || !isPlaying.value { isHidden.value = true } }
            }
            main.execute {
                hiding.cancel()
                isHidden.value = false
                isPlaying.value = true
            }
        }
        sim.finally("the controls stay where they are touched") { !isHidden.value }
    }

    /// The first attempt exceeds its time limit, but still takes effect.
    static let twiceCharged = SeededBug(
        "retry that runs twice", .invariant, depth: 2, time: .racing
    ) {
        sim, isMended in
        let (timers, bank) = (sim.serial(named: "timers"), sim.serial(named: "bank"))
        let (charges, isPaid) = (Tracked(0, name: "charges"), Tracked(false, name: "paid"))
        @Sendable func charge() -> Async<Void> {
            bank.submit {
                if isMended && isPaid.value { return }
                charges.value += 1
                isPaid.value = true
            }
        }
        sim.spawn("shop") {
            do {
                try charge().timeout(after: .seconds(1), on: timers).wait()
            } catch {
                try charge().wait()
            }
        }
        sim.finally("charged once") { charges.value == 1 }
    }

    /// A letter that is typed between the save and the flag that ends it is never saved.
    static let droppedEvent = SeededBug(
        "debounce drops the last event", .invariant, depth: 3, time: .racing
    ) {
        sim, isMended in
        let timers = sim.serial(named: "timers")
        let (text, saved) = (Tracked("", name: "text"), Tracked("", name: "saved"))
        let isSet = Tracked(false, name: "set")
        sim.spawn("typist") {
            for letter in ["a", "b"] {
                text.value += letter
                if isSet.value { continue }
                isSet.value = true
                timers.schedule(after: .seconds(1)) {
                    if isMended { isSet.value = false }
                    saved.value = text.value
                    if !isMended { isSet.value = false }
                }
            }
        }
        sim.finally("all of it is saved") { saved.value == text.value }
    }

    /// A thread that does not get the lock in time continues without it.
    static let withoutLock = SeededBug(
        "on without the lock after a time limit", .invariant, depth: 3, time: .racing
    ) { sim, isMended in
        let (printer, section) = (CriticalSection(name: "printer"), CriticalSection(name: "page"))
        let page = Tracked<[String]>([], name: "page")
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                let print = { @Sendable in
                    section.execute { page.value += [name] }
                    section.execute { page.value += [name] }
                }
                let isPrinted = printer.executeWithTimeout(1, print)
                // The fault: the thread prints without the lock.
                if !isPrinted { if isMended { printer.execute(print) } else { print() } }
            }
        }
        sim.finally("no page is mixed") { page.value.isEmpty || page.value[0] == page.value[1] }
    }
}
