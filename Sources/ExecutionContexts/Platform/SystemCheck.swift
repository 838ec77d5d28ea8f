internal import CPlatform
internal import Synchronization

/// A check of the system that may end the process without a message.
@safe struct SystemCheck {
    private let check: () -> Void
    private let stop: () -> Never

    /// Runs `check`; where it would end the process without a message, `stop` ends it with one.
    static func run(_ check: () -> Void, orElse stop: () -> Never) {
        withoutActuallyEscaping(check) { check in
            withoutActuallyEscaping(stop) { stop in
                var pair = SystemCheck(check: check, stop: stop)
                // The pointer is used during the call only.
                unsafe withUnsafeMutablePointer(to: &pair) { pair in
                    unsafe ec_replace_trap(
                        { unsafe SystemCheck.at($0).check() },
                        { unsafe SystemCheck.at($0).stop() }, pair)
                }
            }
        }
    }

    private static func at(_ pointer: UnsafeMutableRawPointer) -> SystemCheck {
        unsafe pointer.assumingMemoryBound(to: SystemCheck.self).pointee
    }
}

/// What Dispatch opens once for the process: for its first job of a global queue, and for its first
/// timer.
///
/// Where no descriptor is left, Dispatch ends the process without a message, or never fires a
/// timer. So the library checks before its own first use, and ends the process with a message.
enum DispatchStart {
    private static let canRun = ec_dispatch_can_begin(false)
    /// Whether Dispatch has opened what its timers need. Relaxed: it stays true.
    private static let hasTimed = Atomic(false)

    /// Traps if a job of a global queue would end the process.
    @inline(__always)
    static func requireGlobalQueues() { if !canRun { trap("job on a global queue") } }

    /// Traps if a timer would end the process, or would never fire. The caller holds no lock.
    @inline(__always)
    static func requireTimers() { if needsTimer && !ec_dispatch_can_begin(true) { trap("delay") } }

    /// Whether Dispatch may still have to open what its timers need.
    static var needsTimer: Bool { !hasTimed.load(ordering: .relaxed) }

    /// Dispatch has waited for a timer, so it has opened what that needs.
    static func didTime() { hasTimed.store(true, ordering: .relaxed) }

    @inline(never)
    private static func trap(_ use: String) -> Never {
        stopMisuse(
            "The process has no file descriptor left for its first \(use): Dispatch opens three "
                + "once, and could not go on (law 11). Raise the limit of open files, close some, "
                + "or schedule a delay before they run out.")
    }
}
