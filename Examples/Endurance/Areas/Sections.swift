import ExecutionContexts

/// A section between many threads: with and without time limits, and entered again.
enum Sections {
    // Unchecked: `value` is reached inside the section only; the run is there to find out whether
    // that holds.
    private final class Counter: @unchecked Sendable {
        let section = CriticalSection()
        private var value = 0

        func add() { section.execute { value += 1 } }

        func addInTime(_ limit: Duration) -> Bool { section.execute(timeout: limit) { value += 1 } != nil }

        func addAgain() { section.execute { section.execute { value += 1 } } }

        var count: Int { section.execute { value } }
    }

    static func round(_ dice: inout Dice) -> Int {
        let (counter, round) = (Counter(), Round("sections"))
        let (jobs, each) = (2 + dice.roll(6), 100 + dice.roll(2_000))
        let missed = Lock(0)
        let kinds = (0..<jobs).map { _ in dice.roll(3) }
        for kind in kinds {
            let (_, run) = round.job()
            PoolContext().execute {
                for _ in 0..<each {
                    switch kind {
                    case 0: counter.add()
                    case 1: counter.addAgain()
                    default:
                        if !counter.addInTime(.microseconds(50)) { missed.withLock { $0 += 1 } }
                    }
                }
                run()
            }
        }
        round.finish()
        let expected = jobs * each - missed.withLock { $0 }
        round.check(counter.count == expected, "\(counter.count) entries left a mark, not \(expected)")
        return jobs * each
    }
}
