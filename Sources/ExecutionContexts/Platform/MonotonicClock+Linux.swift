#if os(Linux) || os(Android)
internal import CPlatform

/// The system's clock that never goes back and stands still while the machine sleeps.
package enum MonotonicClock {
    /// Nanoseconds since the machine started.
    package static var nanoseconds: Int64 { ec_now() }
}
#endif
