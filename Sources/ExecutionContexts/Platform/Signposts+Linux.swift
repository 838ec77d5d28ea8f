#if os(Linux) || os(Android)
/// There are no signposts here, and nobody to take them down.
struct Signposts: Sendable {
    init(subsystem: String, category: String) {}

    var isEnabled: Bool { false }

    func beginWaiting(_ number: UInt64, _ label: @autoclosure () -> String) {}
    func endWaiting(_ number: UInt64) {}
    func beginRunning(_ number: UInt64, _ label: @autoclosure () -> String) {}
    func endRunning(_ number: UInt64) {}
}
#endif
