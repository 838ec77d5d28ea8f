import CountReferences
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsWork

/// The allocations and reference counts of one operation: other programs add no noise, so a test
/// checks them.
enum ReferenceBenchmarks {
    /// The cost of an operation in the Swift runtime, or its limit.
    struct Cost: Sendable {
        /// Allocated objects, contexts of closures included.
        var objects: Double
        /// Retains and releases.
        var counts: Double
    }

    struct Row: Sendable {
        let name: String
        let limit: Cost
        /// Performs the operation that many times, on the calling thread.
        let perform: @Sendable (Int) -> Void

        init(
            _ name: String, objects: Double, counts: Double,
            _ perform: @escaping @Sendable (Int) -> Void
        ) {
            self.name = name
            limit = Cost(objects: objects, counts: counts)
            self.perform = perform
        }

        /// Measures the operation; nil where a program cannot count.
        func measured() -> Cost? {
            perform(100)
            let times = 1_000
            guard count_references_begin() else { return nil }
            perform(times)
            let counted = count_references_end()
            return Cost(
                objects: Double(counted.objects) / Double(times),
                counts: Double(counted.counts) / Double(times))
        }
    }

    static func run(_ bench: Bench) {
        for row in rows {
            guard let cost = row.measured() else {
                return bench.figure("objects and counts", "not to be seen on this system")
            }
            bench.figure(
                row.name,
                "\(cost.objects.formatted(1)) / \(cost.counts.formatted(1))",
                bar: "<= \(row.limit.objects.formatted(0)), \(row.limit.counts.formatted(0))")
        }
    }

    /// Inline contexts and views over them, so that all of it happens on one thread.
    static var rows: [Row] {
        let immediate: any ExecutionContext = ImmediateContext()
        let serial: any SerialContext = ImmediateContext().serial(named: "serial")
        let limited: any ExecutionContext = ImmediateContext().limited(to: 2)
        let section = CriticalSection()
        let coordinator = ReadWriteCoordinator()
        let flights = SingleFlight<Int, Int>(on: serial) { key, flight in flight.succeed(key) }
        let queue = PrioritizedQueue(on: ImmediateContext(), limit: 1)
        let observed = immediate.with(.observed(by: IdleObserver()))
        let recorded = immediate.with(.observed(by: Recorder()))
        let value = ThreadLocalValue<Int>()
        let counter = Counter()
        return [
            Row("execute on an inline context", objects: 0, counts: 2) {
                for _ in 0..<$0 { immediate.execute { counter.value &+= 1 } }
            },
            Row("execute on a serial view", objects: 2, counts: 7) {
                for _ in 0..<$0 { serial.execute { counter.value &+= 1 } }
            },
            Row("execute on a limited view", objects: 2, counts: 7) {
                for _ in 0..<$0 { limited.execute { counter.value &+= 1 } }
            },
            // One fewer of each in a program that has never used a deadline.
            Row("submit to a serial view", objects: 9, counts: 34) {
                for index in 0..<$0 { _ = serial.submit { index } }
            },
            Row("a promise, completed, with a callback", objects: 3, counts: 14) {
                for index in 0..<$0 {
                    let promise = Promise<Int>()
                    promise.async.onSuccess { counter.value &+= $0 }
                    promise.succeed(index)
                }
            },
            Row("a link of a chain of maps", objects: 1, counts: 8) {
                let promise = Promise<Int>()
                var last = promise.async
                for _ in 0..<$0 { last = last.map { $0 &+ 1 } }
                promise.succeed(1)
            },
            Row("a section", objects: 0, counts: 0) {
                for _ in 0..<$0 { section.execute { counter.value &+= 1 } }
            },
            Row("a read", objects: 0, counts: 0) {
                for _ in 0..<$0 { coordinator.read { counter.value &+= 1 } }
            },
            Row("a thread-local value, set and read", objects: 0, counts: 0) {
                for index in 0..<$0 {
                    value.set(index)
                    counter.value &+= value.cachedValue() ?? 0
                }
            },
            Row("a flight, each of its own key", objects: 10, counts: 113) {
                for key in 0..<$0 { flights[key].subscribe { _ in counter.value &+= 1 } }
            },
            Row("execute on a queue with priorities", objects: 1, counts: 27) {
                for _ in 0..<$0 { queue.execute { counter.value &+= 1 } }
            },
            // Eight and nine in a build without -enable-testing, which the tests need.
            Row("a job with an observer that does nothing", objects: 1, counts: 12) {
                for _ in 0..<$0 { observed.execute { counter.value &+= 1 } }
            },
            Row("a job with a recorder", objects: 1, counts: 12) {
                for _ in 0..<$0 { recorded.execute { counter.value &+= 1 } }
            },
        ]
    }
}
