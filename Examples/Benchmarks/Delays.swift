import Dispatch
import ExecutionContexts
import Foundation

/// Delays beside `asyncAfter` with work items, with many pending already.
enum DelayBenchmarks {
    static func run(_ bench: Bench) {
        for (pending, bar) in [(10_000, ">= 10"), (1_000_000, ">= 5")] {
            let count = 10_000
            let standing = OurDelays(bench.count(pending))
            let theirStanding = TheirDelays(bench.count(pending))
            // Schedule and cancel are measured apart, on the same delays.
            var ours = OurDelays(0)
            var theirs = TheirDelays(0)
            let label = bench.isQuick ? "\(pending / 10) pending" : "\(pending) pending"
            bench.compareMeasured(
                "schedule, \(label)", operations: count, bar: bar,
                ours: {
                    ours.cancel()
                    return time { ours = OurDelays(count) }
                },
                theirs: {
                    theirs.cancel()
                    return time { theirs = TheirDelays(count) }
                })
            bench.compareMeasured(
                "cancel, \(label)", operations: count, bar: ">= 3",
                ours: {
                    ours = OurDelays(count)
                    return time { ours.cancel() }
                },
                theirs: {
                    theirs = TheirDelays(count)
                    return time { theirs.cancel() }
                })
            standing.cancel()
            theirStanding.cancel()
        }
        bytes(bench)
    }

    private static func bytes(_ bench: Bench) {
        let count = 200_000
        let before = allocatedBytes()
        let ours = OurDelays(count)
        let between = allocatedBytes()
        let theirs = TheirDelays(count)
        let after = allocatedBytes()
        bench.figure(
            "bytes a pending delay, without its captures",
            "\((between - before) / count - 8)".leftPadded(10)
                + "\((after - between) / count - 8)".leftPadded(11), bar: "<= 100")
        ours.cancel()
        theirs.cancel()
    }
}

/// Delays of between an hour and a day, so that none comes due.
private struct OurDelays {
    private var delays: [DelayedWork] = []

    init(_ count: Int) {
        delays.reserveCapacity(count)
        let context = GlobalContext()
        for index in 0..<count {
            delays.append(context.schedule(after: .seconds(delay(index))) {})
        }
    }

    func cancel() { for delay in delays { delay.cancel() } }
}

private struct TheirDelays {
    private var items: [DispatchWorkItem] = []

    init(_ count: Int) {
        items.reserveCapacity(count)
        let queue = DispatchQueue.global()
        for index in 0..<count {
            let item = DispatchWorkItem {}
            queue.asyncAfter(deadline: .now() + .seconds(delay(index)), execute: item)
            items.append(item)
        }
    }

    func cancel() { for item in items { item.cancel() } }
}

private func delay(_ index: Int) -> Int { 3_600 + (index &* 7_919) % 82_800 }
