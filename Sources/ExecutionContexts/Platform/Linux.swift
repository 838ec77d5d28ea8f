#if os(Linux) || os(Android)
internal import CPlatform
#if Foundation
internal import CoreFoundation
#endif

/// Runs one job of a thread that runs many; the system has no autoreleased objects.
package enum AutoreleasePool {
    @inline(__always)
    package static func run(_ work: Work) { work() }
}

/// The system's clock that never goes back and stands still while the machine sleeps.
package enum MonotonicClock {
    /// Nanoseconds since the machine started.
    package static var nanoseconds: Int64 { ec_now() }
}

#if Foundation
/// The constants of run loops, whose names differ between the systems.
enum RunLoops {
    /// The mode that `CFRunLoopRun` runs in.
    static var defaultMode: CFString { kCFRunLoopDefaultMode }
}
#endif
#elseif !canImport(Darwin)
#error(
    "ExecutionContexts needs threads and a way to wait on a word: Apple platforms, Linux and Android."
)
#endif
