internal import CPlatform

/// The processors that the program may use: on Linux those that its affinity allows.
package enum Processors {
    static let count = max(Int(ec_processor_count()), 1)

    /// Pins the calling thread to one processor, where the system permits it.
    ///
    /// The same number gives the same one. The threads of one simulation share a processor: passing
    /// the scheduler token then wakes no other one.
    package static func pin(_ number: Int) { ec_pin(UInt32(truncatingIfNeeded: number)) }
}
