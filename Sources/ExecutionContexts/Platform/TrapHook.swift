/// What is called before the library traps, on the thread that traps.
package enum TrapHook {
    private static let hook = Guarded<(@Sendable (_ message: String) -> Void)?>(nil)

    package static func set(_ call: @escaping @Sendable (_ message: String) -> Void) {
        // What was set before is freed outside of the lock.
        _ = hook.withUnscheduledLock { hook in
            defer { hook = call }
            return hook
        }
    }

    /// A forked child calls nothing. What is called may wait for a lock that another thread of the
    /// parent held at the fork.
    static func call(_ message: String) {
        if SimulationHooks.isForked { return }
        hook.withUnscheduledLock { $0 }?(message)
    }
}
