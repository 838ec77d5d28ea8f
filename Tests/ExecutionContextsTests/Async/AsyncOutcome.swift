import ExecutionContexts
import Foundation

// What tests read from an `Async`.
extension Async {
    var value: Value? { try? outcome?.get() }

    var error: (any Error)? {
        if case .failure(let error) = outcome { return error }
        return nil
    }

    /// How many tasks wait for it with `get()`, by the subscribers that its description names.
    var waitingTasks: Int { description.components(separatedBy: "a task").count - 1 }

    /// How many threads wait for it, by the subscribers that its description names.
    var waitingThreads: Int { description.components(separatedBy: "a thread").count - 1 }
}

/// Runs a synchronous body inline, for async code, which cannot call `wait()` itself.
func blocking<Value>(_ body: () throws -> Value) rethrows -> Value { try body() }

extension Promise {
    /// The `Async` of a promise that is neither completed nor dropped.
    static func undropped() -> Async<Value> {
        let promise = Promise()
        let async = promise.async
        async.onComplete { _ in _ = promise }
        return async
    }
}

/// Blocks the calling thread until another thread has made the condition true.
func waitUntil(_ isSo: () -> Bool) {
    while !isSo() { sched_yield() }
}
