import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// A million jobs or delays on a manual context: submitted or scheduled, then run.
enum VirtualBenchmarks {
    static func run(_ bench: Bench) {
        let count = bench.count(1_000_000)
        seconds(bench, "\(count) ready jobs, one context") {
            let context = ManualContext()
            for _ in 0..<count { context.execute {} }
            context.runReady()
        }
        seconds(bench, "\(count) ready jobs, 4 contexts, one time") {
            let time = ManualTime()
            let contexts = (0..<4).map { _ in ManualContext(time: time) }
            for index in 0..<count { contexts[index % 4].execute {} }
            time.runReady()
        }
        seconds(bench, "\(count) delays, each at its own moment") {
            let context = ManualContext()
            for index in 0..<count {
                context.schedule(after: .nanoseconds((index &* 7_919) % count)) {}
            }
            context.advance(by: .seconds(1))
        }
        seconds(bench, "\(count) delays at one moment") {
            let context = ManualContext()
            for _ in 0..<count { context.schedule(after: .seconds(1)) {} }
            context.advance(by: .seconds(1))
        }
        seconds(bench, "\(count) delays, cancelled") {
            let context = ManualContext()
            let delays = (0..<count).map { context.schedule(after: .seconds($0)) {} }
            for delay in delays { delay.cancel() }
        }
        seconds(bench, "\(bench.count(10_000)) sleeps of driven tasks, one group", bar: "") {
            let context = ManualContext()
            try! context.drive {
                await withDiscardingTaskGroup { group in
                    for index in 0..<bench.count(10_000) {
                        group.addTask {
                            try? await context.clock.sleep(for: .nanoseconds(index % 1_000))
                        }
                    }
                }
            }
        }
    }

    private static func seconds(
        _ bench: Bench, _ name: String, bar: String = "<= 2 s", _ body: () -> Void
    ) {
        body()
        let times = (0..<bench.rounds).map { _ in Double(time(body)) / 1e9 }
        bench.figure(name, "\(times.median.formatted(3)) s", bar: bar)
    }
}
