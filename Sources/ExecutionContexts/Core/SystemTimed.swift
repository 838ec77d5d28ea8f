/// A context that can tell that its time is the system's, without being asked for it each time.
///
/// The answer holds for every thread that is not simulated. `time` returns an object that all
/// threads share. To retain it for each job has all of them write to one word.
package protocol SystemTimed: ExecutionContext {
    /// Whether `time` is `SystemTime.ofCaller`, always.
    var isSystemTimed: Bool { get }
}

extension SystemTimed {
    package var isSystemTimed: Bool { true }
}

extension ExecutionContext {
    /// Whether this context is known to have the system's time.
    package var hasSystemTime: Bool { (self as? any SystemTimed)?.isSystemTimed ?? false }
}
