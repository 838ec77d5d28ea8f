import Dispatch
import ExecutionContexts
import Foundation
import Synchronization

/// The shared pool beside Dispatch's global queue, with jobs from outside and from its own jobs.
///
/// Contexts are stored as `any`, as in a service.
enum PoolBenchmarks {
    static let pool: any ExecutionContext = PoolContext()
    static let queue = DispatchQueue.global()

    static func run(_ bench: Bench) {
        outside(bench)
        fanOut(bench)
        trees(bench)
        chains(bench)
        roundTrip(bench)
        serialContexts(bench)
    }

    private static func outside(_ bench: Bench) {
        for producers in [1, 2, 4] {
            let each = bench.count(400_000) / producers
            bench.compare(
                "outside -> pool, \(producers) producer\(producers == 1 ? "" : "s")",
                operations: each * producers, bar: ">= 2",
                ours: {
                    sharedTally.expect(each * producers)
                    onThreads(producers) { _ in
                        for _ in 0..<each { pool.execute { sharedTally.hit() } }
                    }
                    sharedTally.wait()
                },
                theirs: {
                    sharedTally.expect(each * producers)
                    onThreads(producers) { _ in
                        for _ in 0..<each { queue.async { sharedTally.hit() } }
                    }
                    sharedTally.wait()
                })
        }
    }

    private static func fanOut(_ bench: Bench) {
        for (body, bar) in [(0, ">= 3"), (1, ">= 1"), (10, "")] {
            let count = bench.count(body == 0 ? 400_000 : 100_000 / body)
            bench.compare(
                "fan-out, bodies of \(body) us", operations: count, bar: bar,
                ours: {
                    sharedTally.expect(count)
                    pool.execute {
                        for _ in 0..<count {
                            pool.execute {
                                spin(body)
                                sharedTally.hit()
                            }
                        }
                    }
                    sharedTally.wait()
                },
                theirs: {
                    sharedTally.expect(count)
                    queue.async {
                        for _ in 0..<count {
                            queue.async {
                                spin(body)
                                sharedTally.hit()
                            }
                        }
                    }
                    sharedTally.wait()
                })
        }
    }

    private static func trees(_ bench: Bench) {
        let depth = bench.isQuick ? 14 : 17
        let nodes = (2 << depth) - 1
        bench.compare(
            "a tree of jobs", operations: nodes, bar: ">= 5",
            ours: {
                sharedTally.expect(nodes)
                ourTree(depth)
                sharedTally.wait()
            },
            theirs: {
                sharedTally.expect(nodes)
                theirTree(depth)
                sharedTally.wait()
            })
    }

    // Each side has its own functions: one function with the side as a closure would spend its time
    // on calling that closure.
    @Sendable private static func ourTree(_ depth: Int) {
        if depth > 0 { for _ in 0..<2 { pool.execute { ourTree(depth - 1) } } }
        sharedTally.hit()
    }

    @Sendable private static func theirTree(_ depth: Int) {
        if depth > 0 { for _ in 0..<2 { queue.async { theirTree(depth - 1) } } }
        sharedTally.hit()
    }

    private static func chains(_ bench: Bench) {
        for (chains, body, bar) in [
            (1, 0, ">= 7"), (64, 0, ">= 5"), (1, 1, ">= 1"), (64, 1, ">= 1"),
        ] {
            let count = bench.count(body == 0 ? 400_000 : 50_000) / chains
            bench.compare(
                "\(chains) chain\(chains == 1 ? "" : "s"), bodies of \(body) us",
                operations: count * chains,
                bar: bar,
                ours: {
                    sharedTally.expect(chains)
                    for _ in 0..<chains { ourChain(count, body) }
                    sharedTally.wait()
                },
                theirs: {
                    sharedTally.expect(chains)
                    for _ in 0..<chains { theirChain(count, body) }
                    sharedTally.wait()
                })
        }
        let count = bench.count(400_000)
        let counter = Counter()
        bench.compare(
            "1 chain that captures a reference", operations: count,
            ours: {
                sharedTally.expect(1)
                ourChain(count, counter)
                sharedTally.wait()
            },
            theirs: {
                sharedTally.expect(1)
                theirChain(count, counter)
                sharedTally.wait()
            })
    }

    @Sendable private static func ourChain(_ left: Int, _ body: Int) {
        spin(body)
        if left == 0 { sharedTally.hit() } else { pool.execute { ourChain(left - 1, body) } }
    }

    @Sendable private static func theirChain(_ left: Int, _ body: Int) {
        spin(body)
        if left == 0 { sharedTally.hit() } else { queue.async { theirChain(left - 1, body) } }
    }

    @Sendable private static func ourChain(_ left: Int, _ counter: Counter) {
        counter.value &+= 1
        if left == 0 { sharedTally.hit() } else { pool.execute { ourChain(left - 1, counter) } }
    }

    @Sendable private static func theirChain(_ left: Int, _ counter: Counter) {
        counter.value &+= 1
        if left == 0 { sharedTally.hit() } else { queue.async { theirChain(left - 1, counter) } }
    }

    private static func roundTrip(_ bench: Bench) {
        let count = bench.count(20_000)
        let back = DispatchSemaphore(value: 0)
        bench.compare(
            "round trip", operations: count, bar: ">= 1",
            ours: {
                for _ in 0..<count {
                    pool.execute { back.signal() }
                    back.wait()
                }
            },
            theirs: {
                for _ in 0..<count {
                    queue.async { back.signal() }
                    back.wait()
                }
            })
    }

    private static func serialContexts(_ bench: Bench) {
        let count = bench.count(200_000)
        bench.compare(
            "ping-pong of two serial contexts", operations: count, bar: ">= 5",
            ours: {
                sharedTally.expect(1)
                ourHop(
                    count, PoolContext().serial(named: "ping"), PoolContext().serial(named: "pong"))
                sharedTally.wait()
            },
            theirs: {
                sharedTally.expect(1)
                theirHop(count, DispatchQueue(label: "ping"), DispatchQueue(label: "pong"))
                sharedTally.wait()
            })
        let each = bench.count(400)
        bench.compare(
            "1,000 serial contexts, in turn", operations: 1_000 * each, bar: ">= 10",
            ours: {
                let all: [any SerialContext] = (0..<1_000).map { _ in
                    PoolContext().serial(named: "bench")
                }
                sharedTally.expect(1_000 * each)
                for _ in 0..<each { for context in all { context.execute { sharedTally.hit() } } }
                sharedTally.wait()
            },
            theirs: {
                let all = (0..<1_000).map { _ in DispatchQueue(label: "bench") }
                sharedTally.expect(1_000 * each)
                for _ in 0..<each { for queue in all { queue.async { sharedTally.hit() } } }
                sharedTally.wait()
            })
    }

    @Sendable static func ourHop(_ left: Int, _ here: any SerialContext, _ there: any SerialContext)
    {
        if left == 0 { sharedTally.hit() } else { there.execute { ourHop(left - 1, there, here) } }
    }

    @Sendable private static func theirHop(
        _ left: Int, _ here: DispatchQueue, _ there: DispatchQueue
    ) {
        if left == 0 { sharedTally.hit() } else { there.async { theirHop(left - 1, there, here) } }
    }

    /// Keeps the processor busy for `microseconds`.
    @Sendable static func spin(_ microseconds: Int) {
        if microseconds == 0 { return }
        let end = DispatchTime.now().uptimeNanoseconds + UInt64(microseconds) * 1_000
        while DispatchTime.now().uptimeNanoseconds < end {}
    }
}
