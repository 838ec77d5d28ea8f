import ExecutionContexts

/// A critical section that several threads enter, with and without time limits, and re-enter.
enum Sections {
    // Unchecked: `value` is accessed inside the section only. The run tests whether the section
    // excludes other threads.
    private final class Counter: @unchecked Sendable {
        let section = CriticalSection()
        private var value = 0

        func add() { section.execute { value += 1 } }

        func addInTime(_ limit: Duration) -> Bool {
            section.execute(timeout: limit) { value += 1 } != nil
        }

        func addAgain() { section.execute { section.execute { value += 1 } } }

        var count: Int { section.execute { value } }
    }

    static func round(_ rng: inout SeededRNG) -> Int {
        let (counter, round) = (Counter(), Round("sections"))
        let (jobs, each) = (2 + rng.next(below: 6), 100 + rng.next(below: 2_000))
        let missed = Lock(0)
        let kinds = (0..<jobs).map { _ in rng.next(below: 3) }
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
        round.check(
            counter.count == expected, "\(counter.count) entries were counted, not \(expected)")
        return jobs * each
    }
}
