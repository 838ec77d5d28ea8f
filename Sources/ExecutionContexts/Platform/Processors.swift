internal import CPlatform

/// The processors that the program may use: on Linux those that its affinity allows.
package enum Processors {
    static let count = max(Int(ec_processor_count()), 1)
}
