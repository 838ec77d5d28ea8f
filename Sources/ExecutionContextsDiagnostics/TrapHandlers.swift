internal import ExecutionContexts
internal import Synchronization

/// Handlers that are called before the library traps, on the thread that traps.
package enum TrapHandlers {
    package typealias Handler = @Sendable (_ message: String) -> Void

    private struct State {
        var last: UInt64 = 0
        var handlers: [UInt64: Handler] = [:]
    }

    private static let state = Guarded(State())
    /// The number of the thread whose trap is being handled, or zero.
    private static let thread = Atomic<UInt32>(0)
    private static let callLock = Guarded(())

    /// Adds a handler until `remove` is called with the number that this returns.
    package static func add(_ handler: @escaping Handler) -> UInt64 {
        TrapHook.set(call)
        return state.withUnscheduledLock { state in
            state.last += 1
            state.handlers[state.last] = handler
            return state.last
        }
    }

    package static func remove(_ number: UInt64) {
        // The handler is freed outside of the lock.
        _ = state.withUnscheduledLock { $0.handlers.removeValue(forKey: number) }
    }

    /// Calls the handlers. Another thread that traps meanwhile waits here for the end of the
    /// process, so that it does not end the process before the handlers have returned.
    @Sendable private static func call(_ message: String) {
        let own = SimulationHooks.thread
        // Relaxed: a thread reads its own number only if it has written it.
        if thread.load(ordering: .relaxed) == own { return }
        let handlers = state.withUnscheduledLock { Array($0.handlers.values) }
        if handlers.isEmpty { return }
        callLock.withUnscheduledLock { _ in
            thread.store(own, ordering: .relaxed)
            for handler in handlers { handler(message) }
        }
        // The lock is free for the moment until this thread has ended the process.
    }
}
