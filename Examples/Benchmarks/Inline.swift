import Dispatch
import ExecutionContexts
import Measuring

/// The immediate context beside calling the closure, and the memory of work that waits in a view.
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
    }

    static func bytes(_ bench: Bench) {
        let count = 500_000
        let counter = Counter()
        let view = GlobalContext().serial("bytes")
        let queue = DispatchQueue(label: "bytes")
        let mayGoOn = DispatchSemaphore(value: 0)
        view.execute { mayGoOn.wait() }
        queue.async { mayGoOn.wait() }
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
        mayGoOn.signal()
        mayGoOn.signal()
        view.sync {}
        queue.sync {}
    }
}

@inline(never) private func call(_ work: Work) { work() }

/// A number for one thread at a time.
final class Counter: @unchecked Sendable {
    // Unchecked: one thread at a time.
    var value = 0
}
