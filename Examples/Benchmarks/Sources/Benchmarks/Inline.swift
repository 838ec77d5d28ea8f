import Dispatch
import ExecutionContexts
import Measuring

/// The immediate context beside a call of the closure, and the memory of jobs in a view's queue.
enum InlineBenchmarks {
    static func run(_ bench: Bench) {
        let count = bench.count(50_000_000)
        let counter = Counter()
        let work: Work = { counter.value &+= 1 }
        bench.compare(
            "immediate beside a direct call", operations: count, bar: "about 1",
            ours: {
                let context = ImmediateContext()
                for _ in 0..<count { context.execute(work) }
            },
            theirs: { for _ in 0..<count { call(work) } })
        views(bench)
    }

    /// A view that adds nothing, held by its own type and as an existential.
    private static func views(_ bench: Bench) {
        let count = bench.count(5_000_000)
        let counter = Counter()
        let named = ImmediateContext().named("named")
        bench.compare(
            "a job of a named view; a direct call", operations: count, bar: "<= 60 ns",
            ours: { for _ in 0..<count { named.execute { counter.value &+= 1 } } },
            theirs: { for _ in 0..<count { call { counter.value &+= 1 } } })
        let erased: any ExecutionContext = named
        bench.compare(
            "a job of the view as any; a direct call", operations: count, bar: "<= 60 ns",
            ours: { for _ in 0..<count { erased.execute { counter.value &+= 1 } } },
            theirs: { for _ in 0..<count { call { counter.value &+= 1 } } })
    }

    static func bytes(_ bench: Bench) {
        let count = 500_000
        let counter = Counter()
        let view = GlobalContext().serial(named: "bytes")
        let queue = DispatchQueue(label: "bytes")
        let canContinue = DispatchSemaphore(value: 0)
        view.execute { canContinue.wait() }
        queue.async { canContinue.wait() }
        let before = allocatedBytes()
        // A closure with two captures: 48 bytes, of which the view stores a pointer pair.
        for index in 0..<count { view.execute { counter.value &+= index } }
        let between = allocatedBytes()
        for index in 0..<count { queue.async { counter.value &+= index } }
        let after = allocatedBytes()
        bench.figure(
            "bytes a pending job, closure with two captures",
            "\((between - before) / count)".leftPadded(10)
                + "\((after - between) / count)".leftPadded(11), bar: "<= 70")
        canContinue.signal()
        canContinue.signal()
        view.sync {}
        queue.sync {}
    }
}

@inline(never) private func call(_ work: Work) { work() }

/// A counter for one thread at a time.
final class Counter: @unchecked Sendable {
    // Unchecked: one thread at a time accesses it.
    var value = 0
}
