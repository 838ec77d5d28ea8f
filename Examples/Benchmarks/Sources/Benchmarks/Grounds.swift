import Dispatch
import ExecutionContexts
import Foundation

/// The same views, coordinators and callbacks over the pool (ours) and the global context (theirs).
///
/// The results decide the default context of each: see `Docs/Design.md`.
enum GroundBenchmarks {
    static func run(_ bench: Bench) {
        compare(bench, "serial view, outside, 1 producer") {
            serial(bench.count(400_000), over: $0)
        }
        compare(bench, "ping-pong of two serial views") { pingPong(bench.count(200_000), over: $0) }
        compare(bench, "1,000 serial views, in turn") { many(bench.count(200), over: $0) }
        compare(bench, "limited(to: 2), outside") { limited(bench.count(200_000), over: $0) }
        compare(bench, "a serial view asked and answered") {
            answers(bench.count(20_000), over: $0)
        }
        compare(bench, "enqueued writes, then a read") { writes(bench.count(100_000), over: $0) }
        compare(bench, "an Async mapped 10 times there and back") {
            hops(bench.count(2_000), over: $0)
        }
        compare(bench, "an async function's 10 hops", bar: ">= 1") {
            awaited(bench.count(2_000), over: $0, by: nil)
        }
        compare(bench, "10 hops of an async function that prefers the ground", bar: ">= 1") {
            awaited(bench.count(2_000), over: $0, by: $0.taskExecutor)
        }
    }

    /// Measures `body` over both contexts. It returns its number of operations when they are done.
    private static func compare(
        _ bench: Bench, _ name: String, bar: String = "", _ body: (any ExecutionContext) -> Int
    ) {
        let operations = body(PoolContext())
        bench.compare(
            name, operations: operations, bar: bar,
            ours: { _ = body(PoolContext()) }, theirs: { _ = body(GlobalContext()) })
    }

    private static func serial(_ count: Int, over base: any ExecutionContext) -> Int {
        let view: any SerialContext = base.serial(named: "bench")
        tally.expect(count)
        for _ in 0..<count { view.execute { tally.hit() } }
        tally.wait()
        return count
    }

    private static func pingPong(_ count: Int, over base: any ExecutionContext) -> Int {
        sharedTally.expect(1)
        PoolBenchmarks.ourHop(count, base.serial(named: "ping"), base.serial(named: "pong"))
        sharedTally.wait()
        return count
    }

    private static func many(_ each: Int, over base: any ExecutionContext) -> Int {
        let all: [any SerialContext] = (0..<1_000).map { _ in base.serial(named: "bench") }
        sharedTally.expect(1_000 * each)
        for _ in 0..<each { for context in all { context.execute { sharedTally.hit() } } }
        sharedTally.wait()
        return 1_000 * each
    }

    private static func limited(_ count: Int, over base: any ExecutionContext) -> Int {
        let view: any ExecutionContext = base.limited(to: 2)
        sharedTally.expect(count)
        for _ in 0..<count { view.execute { sharedTally.hit() } }
        sharedTally.wait()
        return count
    }

    private static func answers(_ count: Int, over base: any ExecutionContext) -> Int {
        let view: any SerialContext = base.serial(named: "bench")
        let back = DispatchSemaphore(value: 0)
        for _ in 0..<count {
            view.execute { back.signal() }
            back.wait()
        }
        return count
    }

    private static func writes(_ count: Int, over base: any ExecutionContext) -> Int {
        let coordinator = ReadWriteCoordinator(writesOn: base)
        for _ in 0..<count { coordinator.enqueueWrite { touch() } }
        coordinator.read { touch() }
        return count
    }

    private static func hops(_ count: Int, over base: any ExecutionContext) -> Int {
        let (here, there): (any SerialContext, any SerialContext) = (
            base.serial(named: "here"), base.serial(named: "there")
        )
        sharedTally.expect(count)
        for index in 0..<count {
            var value = here.submit { index }
            for _ in 0..<5 { value = value.map(on: there) { $0 + 1 }.map(on: here) { $0 + 1 } }
            value.onComplete { _ in sharedTally.hit() }
        }
        sharedTally.wait()
        return count * 11
    }

    private static func awaited(
        _ count: Int, over base: any ExecutionContext, by executor: (any TaskExecutor)?
    ) -> Int {
        let (here, there): (any SerialContext, any SerialContext) = (
            base.serial(named: "here"), base.serial(named: "there")
        )
        sharedTally.expect(1)
        Task.detached(executorPreference: executor) {
            for _ in 0..<count {
                for step in 0..<5 {
                    _ = try? await there.run { step }
                    _ = try? await here.run { step }
                }
            }
            sharedTally.hit()
        }
        sharedTally.wait()
        return count * 10
    }
}
