/// Traps with a message: what happened, which law, what to do.
///
/// Not `preconditionFailure`, which prints nothing in release builds, where the message is needed
/// most.
package func stopMisuse(
    _ message: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line
) -> Never {
    let text = message()
    TrapHook.call(text)
    fatalError(text, file: file, line: line)
}

/// Traps with a message unless `condition` holds.
package func require(
    _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #file,
    line: UInt = #line
) {
    if !condition { stopMisuse(message(), file: file, line: line) }
}

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

    /// A forked child calls nothing: the hook might wait for a lock that was held at the fork.
    static func call(_ message: String) {
        if SimulationHooks.isForked { return }
        hook.withUnscheduledLock { $0 }?(message)
    }
}
