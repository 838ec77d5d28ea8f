/// What threads do with the library, for a number of workers.
public struct Shape: Sendable, CustomStringConvertible {
    public let description: String
    /// What its figures are divided by.
    public let unit: String
    /// How many operations there are.
    let size: Size
    enum Size { case perWorker(Int), total(Int) }
    let build: @Sendable (ModelRun) -> Void

    /// The shapes of the pool.
    public static let pool: [Shape] = [
        Shape(description: "fan-out from one thread", unit: "job", size: .perWorker(64)) { run in
            let pool = ModelledPool(run)
            run.thread { for _ in 0..<run.count { pool.submit { run.work() } } }
        },
        Shape(description: "as many threads that submit", unit: "job", size: .perWorker(32)) {
            run in
            let pool = ModelledPool(run)
            for _ in 0..<run.workers {
                run.thread {
                    for _ in 0..<run.share {
                        pool.submit { run.work() }
                        run.machine.spend(run.workTime)
                    }
                }
            }
        },
        Shape(description: "as many chains", unit: "job", size: .perWorker(512)) { run in
            let pool = ModelledPool(run)
            run.thread { for _ in 0..<run.workers { chain(run, pool, run.share) } }
        },
        Shape(description: "a tree", unit: "job", size: .perWorker(256)) { run in
            let pool = ModelledPool(run)
            run.thread { tree(run, pool, run.count) }
        },
        Shape(
            description: "a serial view for each thread that submits", unit: "job",
            size: .perWorker(64)
        ) { run in
            let pool = ModelledPool(run)
            for index in 0..<run.workers {
                let view = pool.serialView("view \(index)")
                run.thread {
                    for _ in 0..<run.share {
                        view.execute { run.work() }
                        run.machine.spend(run.workTime)
                    }
                }
            }
        },
        Shape(description: "one serial view for all threads", unit: "job", size: .perWorker(32)) {
            run in
            let view = ModelledPool(run).serialView("view")
            for _ in 0..<run.workers {
                run.thread {
                    for _ in 0..<run.share {
                        view.execute { run.work() }
                        // The view keeps up with all of them.
                        run.machine.spend(run.workTime * Int64(run.workers))
                    }
                }
            }
        },
        idle,
    ]

    /// Each job comes to a pool that has gone idle.
    public static let idle = Shape(
        description: "one job at a time to an idle pool", unit: "job", size: .total(100)
    ) {
        run in
        let pool = ModelledPool(run)
        run.thread {
            for _ in 0..<run.count {
                pool.submit { run.work() }
                run.machine.pause(for: 100_000)
            }
        }
    }

    /// The shapes of the coordinator.
    public static let coordinator: [Shape] = [
        readers,
        Shape(description: "readers beside one writer", unit: "read", size: .perWorker(2_048)) {
            run in
            let room = Coordinated(run)
            for _ in 0..<run.workers {
                run.thread {
                    for _ in 0..<run.share {
                        room.read()
                        run.hit()
                    }
                }
            }
            run.thread { room.writeRepeatedly {} }
        },
        Shape(description: "one writer beside readers", unit: "write", size: .total(64)) { run in
            let room = Coordinated(run)
            for _ in 0..<run.workers { run.thread { while !run.isDone { room.read() } } }
            run.thread { room.writeRepeatedly { run.hit() } }
        },
        Shape(description: "writers only", unit: "write", size: .perWorker(32)) { run in
            let room = Coordinated(run)
            for _ in 0..<run.workers {
                run.thread {
                    for _ in 0..<run.share {
                        room.coordinator.blockingWrite { run.work() }
                        run.machine.spend(run.workTime * Int64(run.workers))
                    }
                }
            }
        },
    ]

    /// A read writes nothing that another thread reads.
    public static let readers = Shape(
        description: "readers only", unit: "read", size: .perWorker(1_024)
    ) { run in
        let room = Coordinated(run)
        for _ in 0..<run.workers {
            run.thread {
                for _ in 0..<run.share {
                    room.read()
                    run.hit()
                }
            }
        }
    }

    private static func chain(_ run: ModelRun, _ pool: ModelledPool, _ length: Int) {
        pool.submit {
            run.work()
            if length > 1 { chain(run, pool, length - 1) }
        }
    }

    /// Submits a job that submits two more, until there are `count` in all.
    private static func tree(_ run: ModelRun, _ pool: ModelledPool, _ count: Int) {
        pool.submit {
            run.work()
            let left = (count - 1) / 2
            if left > 0 { tree(run, pool, left) }
            if count - 1 - left > 0 { tree(run, pool, count - 1 - left) }
        }
    }
}
