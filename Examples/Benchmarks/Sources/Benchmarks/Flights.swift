import Dispatch
import ExecutionContexts
import ExecutionContextsWork
import Foundation
import Measuring

/// Work by key beside its usual alternative: an actor that keeps a task for each key.
enum FlightBenchmarks {
    static func run(_ bench: Bench) {
        distinct(bench)
        shared(bench)
        chain(bench)
        bytes(bench)
    }

    /// Requests each of many keys once.
    private static func distinct(_ bench: Bench) {
        let count = bench.count(50_000)
        let flights = SingleFlight<Int, Int>(on: GlobalContext().serial(named: "flights")) {
            key, flight in
            flight.succeed(key)
        }
        let tasks = TaskPerKey { $0 }
        var perSecond: [Double] = []
        bench.compareMeasured(
            "a flight, each of its own key; actor and tasks", operations: count,
            bar: "<= 1200 ns",
            ours: {
                let taken = time {
                    sharedTally.expect(count)
                    for key in 0..<count { flights[key].subscribe { _ in sharedTally.hit() } }
                    sharedTally.wait()
                }
                perSecond.append(Double(count) / Double(taken) * 1_000_000_000)
                return taken
            },
            theirs: {
                time {
                    sharedTally.expect(count)
                    for key in 0..<count {
                        Task {
                            _ = await tasks.value(key)
                            sharedTally.hit()
                        }
                    }
                    sharedTally.wait()
                }
            })
        if perSecond.isEmpty { return }
        bench.figure("distinct flights a second", perSecond.median.formatted(0), bar: ">= 100000")
    }

    /// Subscribes sixty-four times to each key while its flight is in progress.
    private static func shared(_ bench: Bench) {
        let (keys, subscribers) = (bench.count(500), 64)
        let context = GlobalContext().serial(named: "flights")
        let starts = StartCount()
        let flights = SingleFlight<Int, Int>(on: context) { key, flight in
            starts.add()
            context.schedule(after: .milliseconds(1)) { flight.succeed(key) }
        }
        let tasks = TaskPerKey { key in
            try? await Task.sleep(for: .milliseconds(1))
            return key
        }
        let rounds = bench.rounds + 1
        bench.compareMeasured(
            "a subscriber of 64 to one flight; actor and tasks", operations: keys * subscribers,
            bar: "<= 600 ns",
            ours: {
                time {
                    sharedTally.expect(keys * subscribers)
                    for key in 0..<keys {
                        for _ in 0..<subscribers {
                            flights[key].subscribe { _ in sharedTally.hit() }
                        }
                    }
                    sharedTally.wait()
                }
            },
            theirs: {
                time {
                    sharedTally.expect(keys * subscribers)
                    for key in 0..<keys {
                        for _ in 0..<subscribers {
                            Task {
                                _ = await tasks.value(key)
                                sharedTally.hit()
                            }
                        }
                    }
                    sharedTally.wait()
                }
            })
        bench.figure("starts for 64 subscribers", "\(starts.value / keys / rounds)", bar: "1")
    }

    /// Builds a long chain of works, each of which depends on the previous one.
    private static func chain(_ bench: Bench) {
        let count = bench.count(20_000)
        let context = GlobalContext().serial(named: "chain")
        bench.compareMeasured(
            "a link of a chain of shared work; tasks that await", operations: count,
            bar: "<= 700 ns",
            ours: {
                let graph = WorkGraph(on: context)
                var works: [SharedWork<Int>] = [graph.work(named: "leaf") { $0.succeed(1) }]
                for index in 0..<count {
                    let below = works[index]
                    works.append(graph.work(named: "link") { $0.follow(below) })
                }
                return time {
                    sharedTally.expect(1)
                    works[count].subscribe { _ in sharedTally.hit() }
                    sharedTally.wait()
                }
            },
            theirs: {
                time {
                    sharedTally.expect(1)
                    var below = Task { 1 }
                    for _ in 0..<count { below = Task { [below] in await below.value } }
                    Task { [below] in
                        _ = await below.value
                        sharedTally.hit()
                    }
                    sharedTally.wait()
                }
            })
    }

    private static func bytes(_ bench: Bench) {
        let count = bench.count(50_000)
        let context = GlobalContext().serial(named: "pending")
        let pending = PendingFlights()
        let flights = SingleFlight<Int, Int>(on: context) { _, flight in pending.add(flight) }
        let before = allocatedBytes()
        for key in 0..<count { flights[key].subscribe { _ in } }
        _ = try? context.submit {}.wait()
        let between = allocatedBytes()
        let tasks = TaskPerKey { key in
            try? await Task.sleep(for: .seconds(3_600))
            return key
        }
        sharedTally.expect(count)
        for key in 0..<count { Task { await tasks.begin(key) { sharedTally.hit() } } }
        sharedTally.wait()
        let after = allocatedBytes()
        bench.figure(
            "bytes a pending flight; task",
            "\((between - before) / count)".leftPadded(10)
                + "\((after - between) / count)".leftPadded(11))
        context.execute { pending.endAll() }
        Task { await tasks.cancelAll() }
    }
}

/// Flights that have not completed, kept on one context.
final class PendingFlights: @unchecked Sendable {
    // Unchecked: accessed on the flights' context only.
    private var all: [Flight<Int>] = []
    func add(_ flight: Flight<Int>) { all.append(flight) }
    func endAll() {
        for flight in all { flight.succeed(1) }
        all = []
    }
}

/// A counter of one context.
private final class StartCount: @unchecked Sendable {
    // Unchecked: incremented on the flights' context, and read while that context is idle.
    private(set) var value = 0
    func add() { value += 1 }
}

/// One task for each key in progress: the usual handwritten solution.
private actor TaskPerKey {
    private var tasks: [Int: Task<Int, Never>] = [:]
    private let load: @Sendable (Int) async -> Int

    init(_ load: @escaping @Sendable (Int) async -> Int) { self.load = load }

    func value(_ key: Int) async -> Int {
        if let task = tasks[key] { return await task.value }
        let task = Task { [load] in await load(key) }
        tasks[key] = task
        let value = await task.value
        tasks[key] = nil
        return value
    }

    func begin(_ key: Int, _ begun: () -> Void) {
        tasks[key] = Task { [load] in await load(key) }
        begun()
    }

    func cancelAll() {
        for task in tasks.values { task.cancel() }
        tasks = [:]
    }
}
