import ExecutionContexts
import ExecutionContextsTesting

/// Hand-made primitives.
extension SeededBug {
    static let handMade: [SeededBug] = [
        lostWakeUp, unbalancedPermits, missedDrain, reusedNode, upgrade, flushedWaiters,
        miscountedEnd,
        tornTwice,
    ]

    /// A condition: the waiter has checked the flag, but is not on the list yet.
    static let lostWakeUp = SeededBug("lost wake-up", .lostWakeUp, depth: 1) { sim, isMended in
        let section = CriticalSection(name: "condition")
        let (isReady, waiters) = (
            Tracked(false, name: "ready"), Tracked<[Promise<Void>]>([], name: "waiters")
        )
        sim.spawn("waiter") {
            let promise = Promise<Void>()
            let join = { @Sendable in waiters.value += [promise] }
            let isThere = section.execute {
                if isMended && !isReady.value { join() }
                return isReady.value
            }
            if isThere { return }
            if !isMended { section.execute(join) }
            try promise.async.wait()
        }
        sim.spawn("signaller") {
            let woken = section.execute {
                isReady.value = true
                return waiters.value
            }
            for promise in woken { promise.succeed(()) }
        }
    }

    /// A semaphore: a thread that got no permit returns one.
    static let unbalancedPermits = SeededBug("unbalanced permits", .invariant, depth: 1) {
        sim, isMended in
        let section = CriticalSection(name: "permits")
        let (permits, inside) = (Tracked(1, name: "permits"), Tracked(0, name: "inside"))
        for name in ["alice", "bob", "carol"] {
            sim.spawn(name) {
                let isIn = section.execute {
                    guard permits.value > 0 else { return false }
                    permits.value -= 1
                    return true
                }
                if isIn {
                    inside.value += 1
                    sim.step()
                    inside.value -= 1
                }
                if isIn || !isMended { section.execute { permits.value += 1 } }
            }
        }
        sim.invariant("no more permits than there are") { permits.value <= 1 && inside.value <= 1 }
    }

    /// A mailbox: a letter comes after the drain saw it empty, but before the drain is marked done.
    static let missedDrain = SeededBug("missed drain", .invariant, depth: 2) { sim, isMended in
        let (section, pool) = (CriticalSection(name: "mailbox"), sim.global)
        let (letters, isDraining) = (
            Tracked<[String]>([], name: "letters"), Tracked(false, name: "draining")
        )
        let read = Tracked<[String]>([], name: "read")
        let drain: Work = {
            while let letter = section.execute({ () -> String? in
                let first = letters.value.first
                if first == nil && isMended { isDraining.value = false }
                letters.value = Array(letters.value.dropFirst())
                return first
            }) { read.value += [letter] }
            if !isMended { section.execute { isDraining.value = false } }
        }
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                let isFirst = section.execute {
                    letters.value += [name]
                    defer { isDraining.value = true }
                    return !isDraining.value
                }
                if isFirst { pool.execute(drain) }
            }
        }
        sim.finally("all letters were read") { read.value.count == 2 }
    }

    /// A stack of free nodes: the top is the same again, but the node below it is not.
    static let reusedNode = SeededBug("ABA in a stack", .invariant, depth: 2) { sim, isMended in
        let section = CriticalSection(name: "compare and swap")
        let top = Tracked(Top(node: 1, tag: 0), name: "top")
        let below = Tracked([0, 2, 0], name: "below")
        let owners = Tracked([0, 0, 0], name: "owners")
        @Sendable func swap(_ old: Top, _ node: Int) -> Bool {
            section.execute {
                guard top.value == old else { return false }
                top.value = Top(node: node, tag: isMended ? old.tag + 1 : 0)
                return true
            }
        }
        @Sendable func pop() -> Int {
            while true {
                let old = top.value
                if old.node == 0 { return 0 }
                if swap(old, below.value[old.node]) { return old.node }
            }
        }
        @Sendable func push(_ node: Int) {
            while true {
                let old = top.value
                below.value[node] = old.node
                if swap(old, node) { return }
            }
        }
        sim.spawn("slow") { owners.value[pop()] += 1 }
        sim.spawn("quick") {
            let (first, second) = (pop(), pop())
            owners.value[second] += 1
            push(first)
            owners.value[pop()] += 1
        }
        sim.finally("each node has one owner") { owners.value[1] <= 1 && owners.value[2] <= 1 }
    }

    private struct Top: Equatable, Sendable {
        var node: Int
        var tag: Int
    }

    /// A read-write lock: two readers want to write, and each waits for the other to leave.
    static let upgrade = SeededBug("two readers upgrade", .lostWakeUp, depth: 1) { sim, isMended in
        let section = CriticalSection(name: "lock")
        let (readers, upgrader) = (
            Tracked(0, name: "readers"), Tracked<Promise<Void>?>(nil, name: "upgrader")
        )
        @Sendable func leave() {
            section.execute {
                readers.value -= 1
                return readers.value == 1 ? upgrader.value : nil
            }?.succeed(())
        }
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                section.execute { readers.value += 1 }
                let lastReader = Promise<Void>()
                let isRefused = section.execute {
                    if isMended && upgrader.value != nil { return true }
                    upgrader.value = lastReader
                    if readers.value == 1 { lastReader.succeed(()) }
                    return false
                }
                if !isRefused { try lastReader.async.wait() }
                leave()
            }
        }
    }
}
