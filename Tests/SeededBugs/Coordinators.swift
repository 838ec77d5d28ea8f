import ExecutionContexts
import ExecutionContextsTesting

/// Reads and writes that are atomic alone but not together, and forgotten barriers.
extension SeededBug {
    static let coordinators: [SeededBug] = [
        .checkThenAct, splitTransaction, forgottenBarrier, removedWhileNotified, skippedObserver,
        lateWrite,
    ]

    /// Two threads check whether a seat is free, and both take it.
    package static let checkThenAct = SeededBug("check, then act", .invariant, depth: 1) {
        sim, isMended in
        let seats = ReadWriteCoordinator(name: "seats", writesOn: sim.serial(named: "writes"))
        let taken = Tracked(0, name: "taken")
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                if isMended {
                    seats.blockingWrite { if taken.value < 1 { taken.value += 1 } }
                } else if seats.read({ taken.value < 1 }) {
                    seats.blockingWrite { taken.value += 1 }
                }
            }
        }
        sim.invariant("no seat is taken twice") { taken.value <= 1 }
    }

    /// A value that is read in one transaction is written back in the next.
    static let splitTransaction = SeededBug(
        "read and write in two transactions", .invariant, depth: 0
    ) {
        sim, isMended in
        let (transaction, balance) = (
            Transaction(on: sim.serial(named: "account")), Tracked(0, name: "balance")
        )
        for name in ["salary", "bonus"] {
            sim.spawn(name) {
                if isMended { return transaction.exclusively { balance.value += 50 } }
                let read = transaction.read { balance.value }
                transaction.exclusively { balance.value = read + 50 }
            }
        }
        sim.finally("both came in") { balance.value == 100 }
    }

    /// A change of two values is submitted without a barrier.
    static let forgottenBarrier = SeededBug("forgotten barrier", .invariant, depth: 1) {
        sim, isMended in
        let settings = sim.barrier(named: "settings")
        let (host, port) = (Tracked("old", name: "host"), Tracked("old", name: "port"))
        let isMixed = Tracked(false, name: "mixed")
        sim.spawn("editor") {
            let change: Work = {
                host.value = "new"
                port.value = "new"
            }
            if isMended { settings.executeBarrier(change) } else { settings.execute(change) }
        }
        sim.spawn("client") {
            settings.sync { if host.value != port.value { isMixed.value = true } }
        }
        sim.invariant("host and port belong together") { !isMixed.value }
    }

    /// An observer is notified from a copy of the list after its removal from the list.
    static let removedWhileNotified = SeededBug(
        "observer notified after its removal", .invariant, depth: 1
    ) {
        sim, isMended in
        let observers = ReadWriteCoordinator(name: "observers", writesOn: sim.serial(named: "list"))
        let (list, isGone) = (Tracked(["screen"], name: "list"), Tracked(false, name: "gone"))
        let isWrong = Tracked(false, name: "notified when gone")
        sim.spawn("model") {
            let copy = observers.read { list.value }
            for name in copy {
                let notify = { @Sendable in if isGone.value { isWrong.value = true } }
                if isMended {
                    observers.read { if list.value.contains(name) { notify() } }
                } else {
                    notify()
                }
            }
        }
        sim.spawn("screen") {
            observers.blockingWrite { list.value = [] }
            isGone.value = true
        }
        sim.invariant("no observer is notified when it is gone") { !isWrong.value }
    }

    /// The list is walked by index while an observer leaves it, so the next one is skipped.
    static let skippedObserver = SeededBug(
        "observer skipped when another left", .invariant, depth: 1
    ) {
        sim, isMended in
        let (section, list) = (
            CriticalSection(name: "list"), Tracked(["alice", "bob"], name: "list")
        )
        let notified = Tracked<[String]>([], name: "notified")
        sim.spawn("model") {
            if isMended { return notified.value = section.execute { list.value } }
            var index = 0
            while let next = section.execute({ () -> String? in
                let all = list.value
                return index < all.count ? all[index] : nil
            }) {
                notified.value += [next]
                index += 1
            }
        }
        sim.spawn("alice") { section.execute { list.value = list.value.filter { $0 != "alice" } } }
        sim.finally("an observer that stays is notified") { notified.value.contains("bob") }
    }

    /// A write is submitted by way of a pool, and its author reads too early.
    static let lateWrite = SeededBug("own write not seen", .invariant, depth: 1) { sim, isMended in
        let (store, pool) = (
            ReadWriteCoordinator(name: "store", writesOn: sim.serial(named: "writes")), sim.global
        )
        let (name, isOld) = (Tracked("old", name: "name"), Tracked(false, name: "read the old"))
        let saved = Promise<Void>()
        sim.spawn("editor") {
            pool.execute {
                store.enqueueWrite { name.value = "new" }
                saved.succeed(())
            }
            if isMended { try saved.async.wait() } else { sim.yield() }
            if store.read({ name.value }) == "old" { isOld.value = true }
        }
        sim.invariant("an editor sees what it wrote") { !isOld.value }
    }
}
