import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Wrapped completion handlers that many threads call at once.
@Suite(.serialized, .patient)
struct CallbackStressTests {
    static let subjects = [
        "immediate", "global", "own serial queue", "global, serial", "global, limited",
        "global, bounded refusing",
        "own serial queue, propagating",
    ].flatMap { name in Subject.all.filter { $0.name == name } }

    @Test(arguments: subjects)
    func `Law 24: of sixteen threads that call at once, exactly one wins`(_ subject: Subject) async
    {
        await offThePool {
            let context = subject.make().context
            // No more than a bounded context has room for.
            let count = 1_000
            for _ in 0..<rounds(debug: 4, release: 20) {
                let wins = Box(Array(repeating: 0, count: count))
                let faults = Box(0)
                let otherFaults = Box(0)
                let living = DispatchGroup()
                // Each thread calls all of them in the same order, so the threads meet at each one.
                let wrapped = (0..<count).map { index in
                    context.callback(handler(living) { wins.withValue { $0[index] += 1 } }) {
                        fault in
                        (fault.reason == .calledAgain ? faults : otherFaults).withValue { $0 += 1 }
                    }
                }
                onThreads(16) { for wrapped in wrapped { wrapped(1) } }
                living.wait()
                #expect(wins.value == Array(repeating: 1, count: count))
                #expect(faults.value == 15 * count)
                #expect(otherFaults.value == 0)
            }
        }
    }

    /// A handler that calls `body`. It leaves `living` when it is freed.
    private func handler(_ living: DispatchGroup, _ body: @escaping Work) -> @Sendable (Int) -> Void
    {
        living.enter()
        let farewell = Farewell { living.leave() }
        return { _ in
            _ = farewell
            body()
        }
    }

    @Test
    func
        `Law 10: the context releases the last reference to a handler, however slow the caller is`()
        async
    {
        await offThePool {
            let context = GlobalContext().serial(named: "home")
            let misplaced = Box(0)
            for _ in 0..<rounds(debug: 2_000, release: 50_000) {
                let living = DispatchGroup()
                context.callback(handler(freedOn: context, living, misplaced))(1)
                living.wait()
            }
            #expect(misplaced.value == 0)
        }
    }

    /// A handler that counts a fault in `misplaced` if its capture is freed outside of `context`.
    private func handler(
        freedOn context: some ExecutionContext, _ living: DispatchGroup, _ misplaced: Box<Int>
    ) -> @Sendable (Int) -> Void {
        living.enter()
        let farewell = Farewell {
            if context.isCurrent != true { misplaced.withValue { $0 += 1 } }
            living.leave()
        }
        return { _ in _ = farewell }
    }

    @Test func `A handler whose call races with its release runs or is reported, never both`() async
    {
        await offThePool {
            for _ in 0..<rounds(debug: 500, release: 5_000) {
                let ends = Box<[CallbackFault.Reason]>([])
                let runs = Box(0)
                let living = DispatchGroup()
                // The handler is freed before a fault is reported, and this closure after that.
                func report() -> @Sendable (CallbackFault) -> Void {
                    living.enter()
                    let farewell = Farewell { living.leave() }
                    return { fault in
                        _ = farewell
                        ends.withValue { $0.append(fault.reason) }
                    }
                }
                let kept = Box<(@Sendable (Int) -> Void)?>(
                    GlobalContext().callback(
                        { (_: Int) in runs.withValue { $0 += 1 } }, onFault: report()))
                onThreads([{ kept.value?(1) }, { kept.value = nil }])
                living.wait()
                #expect(runs.value + ends.value.count == 1, "\(ends.value)")
            }
        }
    }

    @Test func `Law 2: on a serial context, handlers run in the order in which they were called`()
        async
    {
        for context in [
            SerialQueueContext(name: "serial"), GlobalContext().serial(),
            GlobalContext().serial().bounded(to: 10_000, overflow: .wait),
        ] as [any SerialContext] {
            let order = Box<[Int]>([])
            await withCheckedContinuation { continuation in
                let count = 1_000
                let wrapped = (0..<count).map { _ in
                    context.callback { (index: Int) in order.withValue { $0.append(index) } }
                }
                // Wrapped in one order and called in another.
                for (index, wrapped) in wrapped.reversed().enumerated() { wrapped(index) }
                context.callback { continuation.resume() }()
            }
            #expect(order.value == Array(0..<1_000))
        }
    }
}
