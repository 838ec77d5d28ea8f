import Foundation

/// A system call that failed.
struct SystemError: Error, Hashable, CustomStringConvertible {
    let call: String
    let code: Int32

    // Unsafe in name only: the system's text is copied at once.
    var description: String {
        unsafe "The system's \(call) failed: \(String(cString: strerror(code)))."
    }

    /// Performs a call, again if a signal interrupts it, and throws if it fails.
    @discardableResult
    static func check<Number: SignedInteger>(_ name: String, _ call: () -> Number)
        throws(SystemError)
        -> Number
    {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw SystemError(call: name, code: errno) }
        }
    }
}
