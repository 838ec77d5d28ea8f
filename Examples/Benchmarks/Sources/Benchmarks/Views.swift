import Dispatch
import ExecutionContexts
import Foundation

/// Views over the global context beside the equivalent queues of Dispatch and Foundation.
///
/// The views are stored as `any`, as in a service.
enum ViewBenchmarks {
    static func serial(_ bench: Bench) {
        for producers in [1, 2, 4] {
            let each = bench.count(400_000) / producers
            bench.compare(
                "serial view, outside, \(producers) producer\(producers == 1 ? "" : "s")",
                operations: each * producers, bar: producers == 1 ? ">= 3" : ">= 1.4",
                ours: {
                    let view: any SerialContext = GlobalContext().serial(named: "bench")
                    tally.expect(each * producers)
                    onThreads(producers) { _ in for _ in 0..<each { view.execute { tally.hit() } } }
                    tally.wait()
                },
                theirs: {
                    let queue = DispatchQueue(label: "bench")
                    tally.expect(each * producers)
                    onThreads(producers) { _ in for _ in 0..<each { queue.async { tally.hit() } } }
                    tally.wait()
                })
        }
        capturing(bench)
        manySerial(bench)
    }

    /// Measures closures that capture a reference: a submission retains it, and a run releases it.
    private static func capturing(_ bench: Bench) {
        let count = bench.count(400_000)
        let counter = Counter()
        bench.compare(
            "serial view, 1 producer, capturing a reference", operations: count,
            ours: {
                let view: any SerialContext = GlobalContext().serial(named: "bench")
                for _ in 0..<count { view.execute { counter.value &+= 1 } }
                tally.expect(1)
                view.execute { tally.hit() }
                tally.wait()
            },
            theirs: {
                let queue = DispatchQueue(label: "bench")
                for _ in 0..<count { queue.async { counter.value &+= 1 } }
                queue.sync {}
            })
    }

    private static func manySerial(_ bench: Bench) {
        let views = 1_000
        let each = bench.count(400)
        bench.compare(
            "1,000 serial views, in turn", operations: views * each, bar: ">= 8",
            ours: {
                let all: [any SerialContext] = (0..<views).map { _ in
                    GlobalContext().serial(named: "bench")
                }
                sharedTally.expect(views * each)
                for _ in 0..<each { for view in all { view.execute { sharedTally.hit() } } }
                sharedTally.wait()
            },
            theirs: {
                let all = (0..<views).map { _ in DispatchQueue(label: "bench") }
                sharedTally.expect(views * each)
                for _ in 0..<each { for queue in all { queue.async { sharedTally.hit() } } }
                sharedTally.wait()
            })
    }

    static func limited(_ bench: Bench) {
        let count = bench.count(200_000)
        for limit in [2, 4] {
            bench.compare(
                "limited(to: \(limit)) beside OperationQueue", operations: count, bar: ">= 15",
                ours: {
                    let view: any BarrierContext = GlobalContext().limited(to: limit)
                    sharedTally.expect(count)
                    for _ in 0..<count { view.execute { sharedTally.hit() } }
                    sharedTally.wait()
                },
                theirs: {
                    let queue = OperationQueue()
                    queue.maxConcurrentOperationCount = limit
                    sharedTally.expect(count)
                    for _ in 0..<count { queue.addOperation { sharedTally.hit() } }
                    sharedTally.wait()
                })
        }
    }

    static func barrier(_ bench: Bench) {
        let count = bench.count(200_000)
        for every in [10, 100] {
            bench.compare(
                "barrier view, 1 barrier in \(every)", operations: count, bar: ">= 1.8",
                ours: {
                    let view: any BarrierContext = GlobalContext().barrier()
                    sharedTally.expect(count)
                    for index in 0..<count {
                        if index % every == 0 {
                            view.executeBarrier { sharedTally.hit() }
                        } else {
                            view.execute { sharedTally.hit() }
                        }
                    }
                    sharedTally.wait()
                },
                theirs: {
                    let queue = DispatchQueue(label: "bench", attributes: .concurrent)
                    sharedTally.expect(count)
                    for index in 0..<count {
                        if index % every == 0 {
                            queue.async(flags: .barrier) { sharedTally.hit() }
                        } else {
                            queue.async { sharedTally.hit() }
                        }
                    }
                    sharedTally.wait()
                })
        }
    }
}
