internal import CPlatform
internal import Synchronization

/// What Dispatch opens once for the process: for its first job of a global queue, and for its first
/// timer.
///
/// Where no descriptor is left, Dispatch ends the process without a message, or never fires a
/// timer. So the library asks before its own first use, and ends the process with a message.
enum DispatchStart {
    private static let canRun = ec_dispatch_can_begin(false)
    /// Whether Dispatch has opened what its timers need. Relaxed: it stays true.
    private static let hasTimed = Atomic(false)

    /// Traps if a job of a global queue would end the process.
    @inline(__always)
    static func requireGlobalQueues() { if !canRun { trap("job on a global queue") } }

    /// Traps if a timer would end the process, or would never fire. The caller holds no lock.
    @inline(__always)
    static func requireTimers() { if needsTimer { requireFirstTimers() } }

    /// Whether Dispatch may still have to open what its timers need.
    static var needsTimer: Bool { !hasTimed.load(ordering: .relaxed) }

    /// Dispatch has waited for a timer, so it has opened what that needs.
    static func didTime() { hasTimed.store(true, ordering: .relaxed) }

    @inline(never)
    private static func requireFirstTimers() { if !ec_dispatch_can_begin(true) { trap("delay") } }

    @inline(never)
    private static func trap(_ use: String) -> Never {
        stopMisuse(
            "The process has no file descriptor left for its first \(use): Dispatch opens three "
                + "once, and could not go on (law 11). Raise the limit of open files, close some, "
                + "or schedule a delay before they run out.")
    }
}
