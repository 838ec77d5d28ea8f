import ExecutionContexts
import ExecutionContextsTesting

/// Wait groups, read-write mutexes and one-time initialisers, in the style of GoBench.
extension SeededBug {
    static let suiteGroups: [SeededBug] = [
        addedAfterWait, readTwice, onceAndLock, sharedLoopVariable, countedDown,
    ]

    /// Each worker adds itself to the group, and the main thread may wait before that.
    ///
    /// As the `WaitGroup` faults of GoBench.
    static let addedAfterWait = SeededBug("added to a group after its wait", .threw, depth: 1) {
        sim, isMended in
        let (group, section) = (WaitGroup(), CriticalSection(name: "results"))
        let results = Tracked(0, name: "results")
        if isMended { group.add(2) }
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                if !isMended { group.add(1) }
                section.execute { results.value += 1 }
                group.done()
            }
        }
        sim.spawn("main") {
            try group.wait()
            try require(results.value == 2, "a result is missing")
        }
    }

    /// A reader takes the lock a second time, while a writer waits in front of it.
    ///
    /// As `kubernetes_62464` and `cockroach_6181` of GoBench.
    static let readTwice = SeededBug("read lock taken twice", .lostWakeUp, depth: 1) {
        sim, isMended in
        let (mutex, ranges) = (RWMutex(), Tracked([1, 2], name: "ranges"))
        sim.spawn("printer") {
            let count = { @Sendable in ranges.value.count }
            let text = try mutex.read {
                "\(ranges.value), \(isMended ? count() : try mutex.read(count)) of them"
            }
            try require(!text.isEmpty, "there is no text")
        }
        sim.spawn("splitter") { try mutex.write { ranges.value = [1, 2, 3] } }
    }

    /// A one-time initialiser takes the lock that another thread holds while it waits for the
    /// initialiser.
    ///
    /// As `hugo_5379` of GoBench.
    static let onceAndLock = SeededBug("once inside a lock", .deadlock, depth: 1) { sim, isMended in
        let (once, lock) = (CriticalSection(name: "once"), CriticalSection(name: "content"))
        let (isMade, shown) = (Tracked(false, name: "made"), Tracked(0, name: "shown"))
        @Sendable func makeOnce() {
            once.execute {
                if isMade.value { return }
                lock.execute { isMade.value = true }
            }
        }
        sim.spawn("page") {
            if isMended { makeOnce() }
            lock.execute {
                if !isMended { makeOnce() }
                shown.value += 1
            }
        }
        sim.spawn("list") { makeOnce() }
    }

    /// The workers of a loop share the loop's variable, which has changed when they read it.
    ///
    /// As `cockroach_35501` of GoBench.
    static let sharedLoopVariable = SeededBug("shared loop variable", .invariant, depth: 0) {
        sim, isMended in
        let section = CriticalSection(name: "visited")
        let (current, visited) = (Tracked(0, name: "current"), Tracked<[Int]>([], name: "visited"))
        sim.spawn("main") {
            for index in 1...2 {
                current.value = index
                sim.spawn("worker \(index)") {
                    let mine = isMended ? index : current.value
                    section.execute { visited.value += [mine] }
                }
            }
        }
        sim.finally("each is visited") { visited.value.sorted() == [1, 2] }
    }

    /// Workers count themselves down in two steps, and none of them sees that it is the last.
    ///
    /// As the atomic counters of GoBench's programs that replace a `WaitGroup`.
    static let countedDown = SeededBug("last worker not noticed", .lostWakeUp, depth: 1) {
        sim, isMended in
        let (section, left) = (CriticalSection(name: "left"), Tracked(2, name: "left"))
        let done = Channel<Int>()
        for name in ["alice", "bob"] {
            sim.spawn(name) {
                let isLast: Bool
                if isMended {
                    isLast = section.execute {
                        left.value -= 1
                        return left.value == 0
                    }
                } else {
                    let rest = left.value - 1
                    left.value = rest
                    isLast = rest == 0
                }
                if isLast { try done.close() }
            }
        }
        sim.spawn("main") { _ = try done.receive().wait() }
    }
}
