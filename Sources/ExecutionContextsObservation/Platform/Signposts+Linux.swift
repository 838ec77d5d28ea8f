#if os(Linux) || os(Android)
/// Does nothing: the system has no signposts, and no tools that record them.
struct Signposts: Sendable {
    init(subsystem: String, category: String) {}

    var isEnabled: Bool { false }

    func beginWaiting(_ number: UInt64, _ label: @autoclosure () -> String) {}
    func endWaiting(_ number: UInt64) {}
    func beginRunning(_ number: UInt64, _ label: @autoclosure () -> String) {}
    func endRunning(_ number: UInt64) {}
}
#endif
