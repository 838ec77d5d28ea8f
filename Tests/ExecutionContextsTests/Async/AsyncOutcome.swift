import ExecutionContexts
import Foundation

// What tests ask of an `Async`.
extension Async {
    var value: Value? { try? outcome?.get() }

    var error: (any Error)? {
        if case .failure(let error) = outcome { return error }
        return nil
    }

    /// How many tasks wait for it with `get()`, as far as its description names its subscribers.
    var waitingTasks: Int { description.components(separatedBy: "a task").count - 1 }

    /// How many threads wait for it, as far as its description goes.
    var waitingThreads: Int { description.components(separatedBy: "a thread").count - 1 }
}

/// Runs a synchronous body where it stands: in async code, which cannot call `wait()` itself.
func blocking<Value>(_ body: () throws -> Value) rethrows -> Value { try body() }

extension Promise {
    /// The `Async` of a promise that nobody completes or drops.
    static func undropped() -> Async<Value> {
        let promise = Promise()
        let async = promise.async
        async.onComplete { _ in _ = promise }
        return async
    }
}

/// Waits, on a thread that may block, until something is so that another thread brings about.
func waitUntil(_ isSo: () -> Bool) {
    while !isSo() { sched_yield() }
}
