import Dispatch
import ExecutionContexts
import Foundation

/// Views over the global context beside the queue of Dispatch or Foundation that does the same.
enum ViewBenchmarks {
    static func serial(_ bench: Bench) {
        for producers in [1, 2, 4] {
            let each = bench.count(400_000) / producers
            bench.compare(
                "serial view, outside, \(producers) producer\(producers == 1 ? "" : "s")",
                operations: each * producers, bar: producers == 1 ? ">= 3" : ">= 1.4",
                ours: {
                    let view = GlobalContext().serial("bench")
                    let tally = Tally(each * producers)
                    onThreads(producers) { _ in for _ in 0..<each { view.execute { tally.hit() } } }
                    tally.wait()
                },
                theirs: {
                    let queue = DispatchQueue(label: "bench")
                    let tally = Tally(each * producers)
                    onThreads(producers) { _ in for _ in 0..<each { queue.async { tally.hit() } } }
                    tally.wait()
                })
        }
        manySerial(bench)
    }

    private static func manySerial(_ bench: Bench) {
        let views = 1_000
        let each = bench.count(400)
        bench.compare(
            "1,000 serial views, in turn", operations: views * each, bar: ">= 8",
            ours: {
                let all = (0..<views).map { _ in GlobalContext().serial("bench") }
                let tally = SharedTally(views * each)
                for _ in 0..<each { for view in all { view.execute { tally.hit() } } }
                tally.wait()
            },
            theirs: {
                let all = (0..<views).map { _ in DispatchQueue(label: "bench") }
                let tally = SharedTally(views * each)
                for _ in 0..<each { for queue in all { queue.async { tally.hit() } } }
                tally.wait()
            })
    }

    static func limited(_ bench: Bench) {
        let count = bench.count(200_000)
        for limit in [2, 4] {
            bench.compare(
                "limited(to: \(limit)) beside OperationQueue", operations: count, bar: ">= 15",
                ours: {
                    let view = GlobalContext().limited(to: limit)
                    let tally = SharedTally(count)
                    for _ in 0..<count { view.execute { tally.hit() } }
                    tally.wait()
                },
                theirs: {
                    let queue = OperationQueue()
                    queue.maxConcurrentOperationCount = limit
                    let tally = SharedTally(count)
                    for _ in 0..<count { queue.addOperation { tally.hit() } }
                    tally.wait()
                })
        }
    }

    static func barrier(_ bench: Bench) {
        let count = bench.count(200_000)
        for every in [10, 100] {
            bench.compare(
                "barrier view, 1 barrier in \(every)", operations: count, bar: ">= 1.8",
                ours: {
                    let view = GlobalContext().barrier()
                    let tally = SharedTally(count)
                    for index in 0..<count {
                        if index % every == 0 {
                            view.executeBarrier { tally.hit() }
                        } else {
                            view.execute { tally.hit() }
                        }
                    }
                    tally.wait()
                },
                theirs: {
                    let queue = DispatchQueue(label: "bench", attributes: .concurrent)
                    let tally = SharedTally(count)
                    for index in 0..<count {
                        if index % every == 0 {
                            queue.async(flags: .barrier) { tally.hit() }
                        } else {
                            queue.async { tally.hit() }
                        }
                    }
                    tally.wait()
                })
        }
    }
}
