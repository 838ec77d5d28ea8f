import ExecutionContexts

/// Readers and writers: no read sees half a write, and each submitter sees its own writes.
enum Coordinators {
    // Unchecked: the two values are accessed inside the coordinator only. The run tests whether the
    // coordinator excludes other threads.
    private final class Pair: @unchecked Sendable {
        let coordinator: ReadWriteCoordinator
        private var one = 0
        private var two = 0

        init(_ coordinator: ReadWriteCoordinator) { self.coordinator = coordinator }

        func add() {
            one += 1
            two += 1
        }

        var values: (Int, Int) { coordinator.read { (one, two) } }
    }

    static func round(_ rng: inout SeededRNG) -> Int {
        let coordinator =
            rng.next(below: 2) == 0
            ? ReadWriteCoordinator(writesOn: GlobalContext()) : ReadWriteCoordinator()
        let (pair, round) = (Pair(coordinator), Round("coordinators"))
        let (jobs, each) = (2 + rng.next(below: 3), 50 + rng.next(below: 400))
        let seeds = (0..<jobs).map { _ in UInt64(rng.next(below: 1 << 40)) }
        let writes = Lock(0)
        for seed in seeds {
            let (_, run) = round.job()
            GlobalContext().execute {
                var rng = SeededRNG(seed: seed)
                var mine = 0
                for _ in 0..<each {
                    switch rng.next(below: 6) {
                    case 0:
                        pair.coordinator.enqueueWrite { pair.add() }
                        mine += 1
                    case 1:
                        pair.coordinator.blockingWrite { pair.add() }
                        mine += 1
                    default:
                        let (one, two) = pair.values
                        round.check(one == two, "a read saw half a write: \(one), \(two)")
                        round.check(one >= mine, "a read saw \(one) of at least \(mine) writes")
                    }
                }
                let sum = mine
                writes.withLock { $0 += sum }
                run()
            }
        }
        round.finish()
        let (count, expected) = (pair.values.0, writes.withLock { $0 })
        round.check(count == expected, "\(count) writes ran, not \(expected)")
        return jobs * each
    }
}
