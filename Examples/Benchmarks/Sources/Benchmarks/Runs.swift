import ExecutionContexts
import ExecutionContextsWork
import Measuring

/// A task that runs a closure on a context and continues with its value, beside a call of an actor.
enum RunBenchmarks {
    static func run(_ bench: Bench) {
        row(bench, "run, inline; an actor's call", bar: "<= 600 ns") { count in
            let context = ImmediateContext()
            for index in 0..<count { _ = try? await context.run { index } }
        }
        row(bench, "run on a serial view; an actor's call") { count in
            let context = GlobalContext().serial(named: "run")
            for index in 0..<count { _ = try? await context.run { index } }
        }
        row(bench, "runTask, inline; an actor's call") { count in
            let context = ImmediateContext()
            for index in 0..<count { _ = try? await context.runTask { index } }
        }
        row(bench, "Confined.run, inline; an actor's call") { count in
            let confined = Confined(0, to: ImmediateContext().serial(named: "run"))
            for index in 0..<count { _ = try? await confined.run { $0 = index } }
        }
    }

    private static func row(
        _ bench: Bench, _ name: String, bar: String = "",
        _ ours: @escaping @Sendable (Int) async -> Void
    ) {
        let count = bench.count(100_000)
        let actor = CalledActor()
        bench.compareMeasured(
            name, operations: count, bar: bar,
            ours: { inTask { await ours(count) } },
            theirs: { inTask { for index in 0..<count { await actor.set(index) } } })
    }
}

private actor CalledActor {
    private var value = 0
    func set(_ new: Int) { value = new }
}
