import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// Fills each queue of the library past its segments and its size while other threads dequeue.
let stresses: [(name: String, body: @Sendable () -> Void)] = [
    ("serial view", { fill(GlobalContext().serial(named: "view")) }),
    (
        "serial view of a serial queue",
        { fill(SerialQueueContext(name: "queue").serial(named: "view")) }
    ),
    ("limited", { fill(GlobalContext().limited(to: 2)) }),
    ("bounded", { fill(GlobalContext().bounded(to: 8, overflow: .callerRuns)) }),
    ("pool", { fill(WorkerPool(width: 2)) }), ("trampoline", { fill(TrampolineContext()) }),
    ("coordinator", coordinate), ("delays", delays), ("futures", futures),
    ("simulated tasks", simulateTasks), ("actors that store their contexts", storeContexts),
]

private func fill(_ context: some ExecutionContext) {
    let group = DispatchGroup(), gate = DispatchSemaphore(value: 0)
    group.enter()
    DispatchQueue.global().async {
        for _ in 0..<20 { gate.signal() }
        group.leave()
    }
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for number in 0..<2_000 {
            group.enter()
            let captured = [number]
            context.execute {
                if number % 500 == 0 { gate.wait() }
                _ = captured.count
                group.leave()
            }
        }
    }
    group.wait()
}

private func coordinate() {
    let coordinator = ReadWriteCoordinator(), group = DispatchGroup(), total = Total()
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for number in 0..<2_000 {
            if number % 3 == 0 {
                group.enter()
                coordinator.enqueueWrite {
                    total.value += 1
                    group.leave()
                }
            } else {
                _ = coordinator.read { total.value }
            }
        }
    }
    group.wait()
}

private final class Total: @unchecked Sendable {
    // Unchecked: the coordinator guards it.
    var value = 0
}

private func delays() {
    let group = DispatchGroup()
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for number in 0..<1_000 {
            group.enter()
            let delayed = GlobalContext().schedule(after: .microseconds(number % 50)) {
                group.leave()
            }
            if number % 3 == 0, delayed.cancel() { group.leave() }
        }
    }
    group.wait()
}

private func futures() {
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for number in 0..<2_000 {
            let promise = Promise<Int>(), other = Promise<Int>()
            let end = Async.first(of: [
                promise.async.map { $0 }, other.async.flatMap { Async(.success($0)) },
            ])
            let late = promise.async.map(on: .global) { $0 }
            GlobalContext().execute {
                if number % 2 == 0 { promise.succeed(number) } else { end.cancel() }
            }
            if number % 5 == 0 { other.async.cancel() } else { other.fail(CancellationError()) }
            late.timeout(after: .milliseconds(1), on: .global).onComplete { _ in }
            end.cancel()
        }
    }
}
