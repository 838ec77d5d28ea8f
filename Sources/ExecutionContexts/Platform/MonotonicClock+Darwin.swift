#if canImport(Darwin)
import Darwin

/// The system's clock that never goes back and stands still while the machine sleeps.
package enum MonotonicClock {
    /// Nanoseconds since the machine started.
    package static var nanoseconds: Int64 {
        Int64(clock_gettime_nsec_np(CLOCK_UPTIME_RAW))
    }
}
#endif
