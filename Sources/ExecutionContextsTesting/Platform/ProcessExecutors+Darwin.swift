#if canImport(Darwin) || compiler(<6.3)
/// The process keeps the platform's executors. The runtime's hooks must suffice; before Swift 6.3
/// there is nothing else.
enum ProcessExecutors {
    static func install() {}

    #if canImport(Darwin)
    static var areKnown: Bool { true }
    static var obstacle: String? { nil }
    #else
    /// Whether this runtime's tasks can be simulated. On Linux, those before Swift 6.3 lose
    /// wake-ups.
    static var areKnown: Bool { false }
    static var obstacle: String? { "on Linux tasks are simulated with Swift 6.3 or later" }
    #endif
}
#endif
