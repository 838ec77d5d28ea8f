#if canImport(Darwin)
#if Foundation
internal import CoreFoundation
#endif
import Darwin
internal import ObjectiveC

/// Runs one job of a thread that runs many, and then releases the objects that the job autoreleased
/// (law 10).
package enum AutoreleasePool {
    @inline(__always)
    package static func run(_ work: Work) { autoreleasepool { work() } }
}

/// The system's clock that never goes back and stands still while the machine sleeps.
package enum MonotonicClock {
    /// Nanoseconds since the machine started.
    package static var nanoseconds: Int64 {
        Int64(clock_gettime_nsec_np(CLOCK_UPTIME_RAW))
    }
}

#if Foundation
/// The constants of run loops, whose names differ between the systems.
enum RunLoops {
    /// The mode that `CFRunLoopRun` runs in.
    static var defaultMode: CFString { CFRunLoopMode.defaultMode.rawValue }
}
#endif
#endif
