internal import CPlatform

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
