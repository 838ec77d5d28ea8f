import ExecutionContexts
import ExecutionContextsTesting

/// One job is atomic; two jobs, or a check in one and an act in another, are not.
extension SeededBug {
    static let hops: [SeededBug] = [
        .lostUpdate, .callbackAfterCancel, swappedSaves, staleCache, closedAtTheEnd,
    ]

    /// Two threads read a value on one context, and write the sum back in a second job.
    package static let lostUpdate = SeededBug("lost update over two hops", .invariant, depth: 0) {
        sim, isMended in
        let (database, count) = (sim.serial(named: "database"), Tracked(0, name: "count"))
        let pool = sim.global
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                if isMended { return database.execute { count.value += 1 } }
                database.execute {
                    let read = count.value
                    pool.execute {
                        let sum = read + 1
                        database.execute { count.value = sum }
                    }
                }
            }
        }
        sim.finally("both have counted") { count.value == 2 }
    }

    /// A download notifies a screen that may have closed in between.
    package static let callbackAfterCancel = SeededBug(
        "callback after cancel", .invariant, depth: 1
    ) {
        sim, isMended in
        let main = sim.main
        let (isCancelled, isNotified) = (
            Tracked(false, name: "cancelled"), Tracked(false, name: "notified")
        )
        let isWrong = Tracked(false, name: "notified after the cancel")
        sim.spawn("download") {
            if isMended {
                main.execute { if !isCancelled.value { isNotified.value = true } }
            } else if !isCancelled.value {
                main.execute {
                    if isCancelled.value { isWrong.value = true }
                    isNotified.value = true
                }
            }
        }
        sim.spawn("screen") { main.execute { isCancelled.value = true } }
        sim.invariant("no callback after the cancel") { !isWrong.value }
    }

    /// A document is saved twice, by way of a pool, and the older version lands last.
    static let swappedSaves = SeededBug("order swapped by a pool", .invariant, depth: 1) {
        sim, isMended in
        let (disk, saved) = (sim.serial(named: "disk"), Tracked("", name: "saved"))
        let encoding: any ExecutionContext =
            isMended ? sim.global.serial(named: "encoding") : sim.global
        sim.spawn("editor") {
            for text in ["first", "second"] {
                encoding.execute {
                    let bytes = text
                    disk.execute { saved.value = bytes }
                }
            }
        }
        sim.finally("the last version is saved") { saved.value == "second" }
    }

    /// A value that was read before it changed is stored in a cache that was emptied since.
    static let staleCache = SeededBug("cache filled after it was emptied", .invariant, depth: 2) {
        sim, isMended in
        let (main, database, pool) = (sim.main, sim.serial(named: "database"), sim.global)
        let (stored, cached) = (Tracked(1, name: "stored"), Tracked<Int?>(nil, name: "cached"))
        let epoch = Tracked(0, name: "epoch")
        sim.spawn("reader") {
            let before = epoch.value
            database.execute {
                let read = stored.value
                pool.execute {
                    main.execute { if !isMended || epoch.value == before { cached.value = read } }
                }
            }
        }
        sim.spawn("writer") {
            database.sync { stored.value = 2 }
            main.execute {
                epoch.value += 1
                cached.value = nil
            }
        }
        sim.finally("the cache is empty or right") {
            cached.value == nil || cached.value == stored.value
        }
    }

    /// A consumer finds the queue empty, then closed, and leaves; the last item came in between.
    static let closedAtTheEnd = SeededBug("last item lost at close", .invariant, depth: 1) {
        sim, isMended in
        let (items, isClosed) = (Tracked<[Int]>([], name: "items"), Tracked(false, name: "closed"))
        let taken = Tracked(0, name: "taken")
        sim.spawn("consumer") {
            while true {
                let wasClosed = isClosed.value
                let count = items.value.count
                if taken.value < count {
                    taken.value += 1
                } else if isMended ? wasClosed : isClosed.value {
                    return
                } else {
                    sim.yield()
                }
            }
        }
        sim.spawn("producer") {
            for item in 1...2 { items.value += [item] }
            isClosed.value = true
        }
        sim.finally("all were taken") { taken.value == 2 }
    }
}
