#if Foundation && canImport(Darwin)
internal import CoreFoundation

/// The constants of run loops, whose names differ between the systems.
enum RunLoops {
    /// The mode that `CFRunLoopRun` runs in.
    static var defaultMode: CFString { CFRunLoopMode.defaultMode.rawValue }
}
#endif
