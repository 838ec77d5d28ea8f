import Dispatch
import ExecutionContexts
import TestSupport
import Testing

/// Urgent jobs begin first, and low-priority jobs are not starved.
@Suite(.patient)
struct WorkerPoolPriorityTests {
    @Test func `Jobs of a higher priority begin before jobs that are already queued`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            let (isBusy, mayGoOn) = (DispatchSemaphore(value: 0), BusyWait())
            pool.execute {
                isBusy.signal()
                mayGoOn.run()
            }
            isBusy.wait()
            let order = Box<[WorkPriority]>([])
            for priority in WorkPriority.allCases {
                for _ in 0..<10 {
                    pool.prioritized(priority).execute { order.withValue { $0.append(priority) } }
                }
            }
            mayGoOn.end()
            try! pool.drained().wait()
            #expect(order.value.prefix(20).allSatisfy { $0 > .medium })
            #expect(order.value.suffix(20).allSatisfy { $0 < .medium })
        }
    }

    @Test(arguments: [WorkPriority.low, .medium])
    func `A job of a lower priority begins though urgent jobs never run out`(
        _ priority: WorkPriority
    ) async {
        await watched {
            let pool = WorkerPool(width: 1)
            let hasRun = Box(false)
            let urgent: any ExecutionContext =
                priority == .low ? pool : pool.prioritized(.high)
            @Sendable func feed() { if !hasRun.value { urgent.execute(feed) } }
            feed()
            pool.prioritized(priority).execute { hasRun.value = true }
            try! pool.drained().wait()
            #expect(hasRun.value)
        }
    }

    @Test func `Priorities compare and have names`() {
        #expect(WorkPriority.low < .medium && WorkPriority.medium < .high)
        let pool = WorkerPool(name: "thumbnails")
        #expect(pool.name == "thumbnails")
        #expect(pool.prioritized(.high).name == "thumbnails(high)")
        #expect(PoolContext(.low).name == "pool(low)")
    }
}
