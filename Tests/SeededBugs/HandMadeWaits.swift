import ExecutionContexts
import ExecutionContextsTesting

/// Hand-made waits.
extension SeededBug {
    /// Waiters are notified, and then their list is emptied; one that came in between is forgotten.
    static let flushedWaiters = SeededBug("waiter forgotten in a flush", .lostWakeUp, depth: 2) {
        sim, isMended in
        let section = CriticalSection(name: "waiters")
        let waiters = Tracked<[Promise<Int>]>([], name: "waiters")
        let stored = Tracked<Int?>(nil, name: "stored")
        sim.spawn("caller") {
            let promise = Promise<Int>()
            let hit = section.execute {
                if stored.value == nil { waiters.value += [promise] }
                return stored.value
            }
            if hit == nil { _ = try promise.async.wait() }
        }
        sim.spawn("loader") {
            let promises = section.execute {
                if isMended { stored.value = 7 }
                return waiters.value
            }
            for promise in promises { promise.succeed(7) }
            section.execute {
                stored.value = 7
                waiters.value = []
            }
        }
    }

    /// Workers decrement a counter without a lock, and the thread that polls it never sees zero.
    static let miscountedEnd = SeededBug("count that is never reached", .endless, depth: 1) {
        sim, isMended in
        let (section, left) = (CriticalSection(name: "count"), Tracked(2, name: "left"))
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                if isMended { section.execute { left.value -= 1 } } else { left.value -= 1 }
            }
        }
        sim.spawn("main") { while left.value > 0 { sim.yield() } }
    }

    /// A torn snapshot is taken once more, and then not checked.
    static let tornTwice = SeededBug("torn twice, believed the second time", .invariant, depth: 2) {
        sim, isMended in
        let (version, left, right) = (
            Tracked(0, name: "version"), Tracked(0, name: "left"), Tracked(0, name: "right")
        )
        let isTorn = Tracked(false, name: "torn")
        sim.spawn("reader") {
            var (before, one, other) = (version.value, left.value, right.value)
            if before % 2 == 1 || version.value != before {
                (before, one, other) = (version.value, left.value, right.value)
                if isMended && (before % 2 == 1 || version.value != before) { return }
            }
            if one != other { isTorn.value = true }
        }
        sim.spawn("writer") {
            for round in 1...2 {
                version.value = 2 * round - 1
                left.value = round
                right.value = round
                version.value = 2 * round
            }
        }
        sim.invariant("a snapshot is whole") { !isTorn.value }
    }
}
