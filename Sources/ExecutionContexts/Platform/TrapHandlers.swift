internal import CPlatform
internal import Synchronization

/// What is called before the library traps, on the thread that traps.
package enum TrapHandlers {
    package typealias Handler = @Sendable (_ message: String) -> Void

    private static let handlers = Guarded<[UInt64: Handler]>([:])
    private static let count = Atomic<Int>(0)
    private static let last = Atomic<UInt64>(0)
    /// The number of the thread whose trap is being handled, or zero.
    private static let thread = Atomic<UInt32>(0)
    private static let turn = Guarded(())

    /// Adds a handler until `remove` is called with the number that this returns.
    package static func add(_ handler: @escaping Handler) -> UInt64 {
        // Relaxed: the numbers only differ.
        let number = last.add(1, ordering: .relaxed).newValue
        handlers.withUnscheduledLock { $0[number] = handler }
        // Relaxed: a hint for a thread that traps.
        count.add(1, ordering: .relaxed)
        return number
    }

    package static func remove(_ number: UInt64) {
        // The handler is freed outside of the lock.
        let removed = handlers.withUnscheduledLock { $0.removeValue(forKey: number) }
        if removed != nil { count.subtract(1, ordering: .relaxed) }
    }

    /// Calls the handlers. Another thread that traps meanwhile waits here for the process to end,
    /// so that it does not end it before they have returned.
    ///
    /// A forked child calls none. A handler, and what this does for one, may wait for a lock that
    /// another thread of the parent held at the fork.
    static func call(_ message: String) {
        if count.load(ordering: .relaxed) == 0 || SimulationHooks.isForked { return }
        let own = unsafe Threads.own.pointee.identifier
        // Relaxed: a thread reads its own number only if it has written it.
        if thread.load(ordering: .relaxed) == own { return }
        let handlers = handlers.withUnscheduledLock { Array($0.values) }
        if handlers.isEmpty { return }
        turn.withUnscheduledLock { _ in
            thread.store(own, ordering: .relaxed)
            for handler in handlers { handler(message) }
        }
        // The lock is free for the moment until this thread has ended the process.
    }
}
