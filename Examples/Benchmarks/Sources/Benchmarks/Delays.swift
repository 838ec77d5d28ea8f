import Dispatch
import ExecutionContexts
import Foundation
import Measuring

/// Delays beside `asyncAfter` with work items, while many other delays are pending.
///
/// Scheduling is measured as processor time of the whole process until the timer has the delays,
/// since `asyncAfter` leaves the insertion to another thread. Cancelling a work item is measured on
/// the caller. A cancelled work item keeps its captures and its timer entry until its deadline.
/// Dispatch's figure excludes that later cost. A cancelled timer source releases both, as a delay
/// of this library does, and is measured as processor time.
enum DelayBenchmarks {
    static func run(_ bench: Bench) {
        for (pending, bar) in [(10_000, ">= 10"), (1_000_000, ">= 5")] {
            let count = bench.count(10_000)
            // These are scheduled before the standing delays and freed after them, so that both
            // sides allocate from memory that was in use before.
            var ours = OurDelays(count)
            var theirs = TheirDelays(count)
            let ourStanding = OurDelays(bench.count(pending))
            let theirStanding = TheirDelays(bench.count(pending))
            let label = "\(bench.count(pending)) pending"
            bench.compareMeasured(
                "schedule, \(label)", operations: count, bar: bar,
                ours: {
                    ours.clear()
                    return processorTime {
                        ours.schedule(count)
                        flush { GlobalContext().schedule(after: .milliseconds(1), $0) }
                    }
                },
                theirs: {
                    theirs.clear()
                    return processorTime {
                        theirs.schedule(count)
                        flush {
                            DispatchQueue.global().asyncAfter(deadline: .now() + 0.001, execute: $0)
                        }
                    }
                })
            bench.compareMeasured(
                "cancel, \(label)", operations: count, bar: ">= 3",
                ours: {
                    ours.clear()
                    ours.schedule(count)
                    return time { ours.cancel() }
                },
                theirs: {
                    theirs.clear()
                    theirs.schedule(count)
                    return time { theirs.cancel() }
                })
            bench.compareMeasured(
                "cancel beside a timer source, \(label)", operations: count, bar: ">= 3",
                ours: {
                    ours.clear()
                    ours.schedule(count)
                    return processorTime {
                        ours.cancel()
                        flush { GlobalContext().schedule(after: .milliseconds(1), $0) }
                    }
                },
                theirs: {
                    let sources = TheirSources(count)
                    return processorTime {
                        sources.cancel()
                        flush {
                            DispatchQueue.global().asyncAfter(deadline: .now() + 0.001, execute: $0)
                        }
                    }
                })
            ourStanding.cancel()
            theirStanding.cancel()
        }
        bytes(bench)
    }

    /// Waits for a delay that is set now: the timer has then processed everything set before.
    private static func flush(_ schedule: (@escaping @Sendable () -> Void) -> Void) {
        let done = DispatchSemaphore(value: 0)
        schedule { done.signal() }
        done.wait()
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

/// Delays of between an hour and a day, so that none becomes due.
private struct OurDelays {
    private var delays: [DelayedWork] = []

    init(_ count: Int) {
        delays.reserveCapacity(count)
        schedule(count)
    }

    mutating func schedule(_ count: Int) {
        let context = GlobalContext()
        for index in 0..<count {
            delays.append(context.schedule(after: .seconds(delay(index))) {})
        }
    }

    func cancel() { for delay in delays { delay.cancel() } }

    /// Cancels and releases the delays, and keeps the capacity of the array.
    mutating func clear() {
        cancel()
        delays.removeAll(keepingCapacity: true)
    }
}

private struct TheirDelays {
    private var items: [DispatchWorkItem] = []

    init(_ count: Int) {
        items.reserveCapacity(count)
        schedule(count)
    }

    mutating func schedule(_ count: Int) {
        let queue = DispatchQueue.global()
        for index in 0..<count {
            let item = DispatchWorkItem {}
            queue.asyncAfter(deadline: .now() + .seconds(delay(index)), execute: item)
            items.append(item)
        }
    }

    func cancel() { for item in items { item.cancel() } }

    mutating func clear() {
        cancel()
        items.removeAll(keepingCapacity: true)
    }
}

/// Dispatch's timers that release their captures when they are cancelled.
private struct TheirSources {
    private var sources: [any DispatchSourceTimer] = []

    init(_ count: Int) {
        sources.reserveCapacity(count)
        for index in 0..<count {
            let source = DispatchSource.makeTimerSource(queue: .global())
            source.setEventHandler {}
            source.schedule(deadline: .now() + .seconds(delay(index)))
            source.activate()
            sources.append(source)
        }
    }

    func cancel() { for source in sources { source.cancel() } }
}

private func delay(_ index: Int) -> Int { 3_600 + (index &* 7_919) % 82_800 }
