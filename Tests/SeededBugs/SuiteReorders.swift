import ExecutionContexts
import ExecutionContextsTesting

/// Programs of SCTBench that come in sizes: the more threads, the rarer the fault.
extension SeededBug {
    static let suiteReorders: [SeededBug] =
        [3, 4, 5, 10, 20].map(reorder) + [2, 20].map(twoStages) + [3, 7].map(wrongLock)
        + [2, 3].map(philosophers)

    /// Setters write two values without a lock, and a checker sees one of them written.
    ///
    /// As `reorder_3` to `reorder_20` of SCTBench.
    private static func reorder(_ threads: Int) -> SeededBug {
        SeededBug("half of a pair seen, \(threads) threads", .threw, depth: 1) { sim, isMended in
            let section = CriticalSection(name: "pair")
            let (left, right) = (Tracked(0, name: "left"), Tracked(0, name: "right"))
            @Sendable func inOneStep(_ body: () throws -> Void) rethrows {
                if isMended { try section.execute(body) } else { try body() }
            }
            for index in 1..<threads {
                sim.spawn("setter \(index)") {
                    inOneStep {
                        left.value = 1
                        right.value = -1
                    }
                }
            }
            sim.spawn("checker") {
                try inOneStep { try require(left.value + right.value == 0, "half a pair") }
            }
        }
    }

    /// The first value is written under one lock and the second under another, and a reader comes
    /// between the two.
    ///
    /// As `twostage` and `twostage_100` of SCTBench.
    private static func twoStages(_ threads: Int) -> SeededBug {
        SeededBug("two stages, two locks, \(threads) threads", .threw, depth: 1) { sim, isMended in
            let (first, second) = (CriticalSection(name: "first"), CriticalSection(name: "second"))
            let (data, copy) = (Tracked(0, name: "data"), Tracked(0, name: "copy"))
            for index in 1..<threads {
                sim.spawn("writer \(index)") {
                    let copying = { @Sendable in second.execute { copy.value = data.value + 1 } }
                    first.execute {
                        data.value = 1
                        if isMended { copying() }
                    }
                    if !isMended { copying() }
                }
            }
            sim.spawn("reader") {
                let seen = first.execute { data.value }
                guard seen > 0 else { return }
                let copied = second.execute { copy.value }
                try require(copied == seen + 1, "the second stage is missing")
            }
        }
    }

    /// One thread guards a value with one lock, and the others guard it with another.
    ///
    /// As `wronglock_3` and `wronglock` of SCTBench.
    private static func wrongLock(_ others: Int) -> SeededBug {
        SeededBug("guarded by another lock, \(others + 1) threads", .threw, depth: 1) {
            sim, isMended in
            let (lock, other) = (CriticalSection(name: "lock"), CriticalSection(name: "other"))
            let data = Tracked(0, name: "data")
            sim.spawn("careful") {
                try lock.execute {
                    let seen = data.value
                    data.value = seen + 1
                    try require(data.value == seen + 1, "another thread has written")
                }
            }
            for index in 1...others {
                sim.spawn("other \(index)") {
                    (isMended ? lock : other).execute { data.value += 1 }
                }
            }
        }
    }

    /// Each philosopher takes the fork on the left, and then the one on the right.
    ///
    /// As `din_phil2_sat` to `din_phil7_sat` of SCTBench.
    private static func philosophers(_ seats: Int) -> SeededBug {
        SeededBug("\(seats) philosophers", .deadlock, depth: seats - 1) { sim, isMended in
            let forks = (0..<seats).map { CriticalSection(name: "fork \($0)") }
            let meals = (0..<seats).map { Tracked(0, name: "meals of \($0)") }
            for seat in 0..<seats {
                let (left, right) = (forks[seat], forks[(seat + 1) % seats])
                let isSwapped = isMended && seat == seats - 1
                sim.spawn("philosopher \(seat)") {
                    (isSwapped ? right : left).execute {
                        (isSwapped ? left : right).execute { meals[seat].value += 1 }
                    }
                }
            }
        }
    }
}
