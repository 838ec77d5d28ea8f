import Dispatch
import ExecutionContexts
import ExecutionContextsWork
import Foundation

/// How costs grow: with the number of threads, and with the number of pending jobs.
///
/// The other side of each row is the smallest size. So the ratio is the speed of an operation at
/// the larger size relative to that: 2 on two threads that share nothing, 1 where pending jobs do
/// not matter.
enum ScaleBenchmarks {
    static func run(_ bench: Bench) {
        bench.figure("processors", "\(cores)")
        var threads = 2
        while threads <= max(cores, 4) {
            byThreads(bench, threads)
            threads *= 2
        }
        for exponent in 3...6 where !bench.isQuick || exponent <= 4 {
            byPending(bench, Int(pow(10, Double(exponent))), "10^\(exponent)")
        }
    }

    private static var cores: Int { ProcessInfo.processInfo.activeProcessorCount }

    // MARK: - Threads

    private static func byThreads(_ bench: Bench, _ threads: Int) {
        let (section, coordinator) = (CriticalSection(), ReadWriteCoordinator())
        compare(bench, "a section", threads, of: 1_000_000) { _, share in
            for _ in 0..<share { section.execute { touch() } }
        }
        compare(bench, "a read", threads, of: 10_000_000) { _, share in
            for _ in 0..<share { coordinator.read { touch() } }
        }
        compare(bench, "a promise", threads, of: 1_000_000) { _, share in
            for index in 0..<share {
                let promise = Promise<Int>()
                promise.async.onSuccess { _ in touch() }
                promise.succeed(index)
            }
        }
        let shared: any SerialContext = PoolContext().serial(named: "shared")
        compareTallied(bench, "a job of one serial view", threads, of: 400_000) { _ in shared }
        let own: [any ExecutionContext] = (0..<threads).map {
            PoolContext().serial(named: "view \($0)")
        }
        compareTallied(bench, "a job of a serial view each", threads, of: 400_000) { own[$0] }
        compareTallied(bench, "a job of the pool", threads, of: 400_000) { _ in PoolContext() }
    }

    private static func compare(
        _ bench: Bench, _ name: String, _ threads: Int, of full: Int,
        _ body: @escaping @Sendable (_ thread: Int, _ share: Int) -> Void
    ) {
        let count = bench.count(full) / threads * threads
        bench.compare(
            "\(name), \(threads) threads; 1 thread", operations: count,
            ours: { onThreads(threads) { body($0, count / threads) } },
            theirs: { onThreads(1) { body($0, count) } })
    }

    /// The same, for jobs, with the time until they have run.
    private static func compareTallied(
        _ bench: Bench, _ name: String, _ threads: Int, of full: Int,
        _ context: @escaping @Sendable (_ thread: Int) -> any ExecutionContext
    ) {
        let count = bench.count(full) / threads * threads
        func run(on threads: Int) {
            sharedTally.expect(count)
            onThreads(threads) { thread in
                let context = context(thread)
                for _ in 0..<count / threads { context.execute { sharedTally.hit() } }
            }
            sharedTally.wait()
        }
        bench.compare(
            "\(name), \(threads) threads; 1 thread", operations: count,
            ours: { run(on: threads) }, theirs: { run(on: 1) })
    }

    // MARK: - Pending

    private static func byPending(_ bench: Bench, _ pending: Int, _ label: String) {
        let (count, few) = (bench.count(20_000), 100)
        let sizes = [pending, few]

        func delay() -> UInt64 {
            time {
                for index in 0..<count {
                    GlobalContext().schedule(after: .seconds(7_200 + index)) {}.cancel()
                }
            }
        }
        func standing(_ size: Int) -> [DelayedWork] {
            (0..<size).map { GlobalContext().schedule(after: .seconds(3_600 + $0)) {} }
        }
        // One timer holds all of them, so the smaller number is measured first.
        var delays = standing(few)
        var small = (0...bench.rounds).map { _ in delay() }
        delays += standing(pending - few)
        bench.compareMeasured(
            "a delay, \(label) pending; 100", operations: count,
            ours: delay, theirs: { small.removeFirst() })
        for delay in delays { delay.cancel() }

        let queues = sizes.map { size in
            let queue = PrioritizedQueue(on: ImmediateContext(), limit: 1)
            queue.suspend()
            for _ in 0..<size { queue.submit {} }
            return queue
        }
        func submit(_ queue: PrioritizedQueue) {
            for _ in 0..<count { queue.submit(priority: .low) {}.async.cancel() }
        }
        bench.compare(
            "a queued job, \(label) pending; 100", operations: count,
            ours: { submit(queues[0]) }, theirs: { submit(queues[1]) })
        for queue in queues { queue.cancelAll() }

        let held = PendingFlights()
        let flights = sizes.map { size in
            let flights = SingleFlight<Int, Int>(on: ImmediateContext().serial(named: "flights")) {
                key, flight in
                if key < 0 { flight.succeed(key) } else { held.add(flight) }
            }
            for key in 0..<size { flights[key].subscribe { _ in } }
            return flights
        }
        func fly(_ flights: SingleFlight<Int, Int>) {
            for key in 1...count { flights[-key].subscribe { _ in touch() } }
        }
        bench.compare(
            "a flight, \(label) pending; 100", operations: count,
            ours: { fly(flights[0]) }, theirs: { fly(flights[1]) })
        held.endAll()
    }
}
