#if canImport(Darwin)
internal import os

/// Records intervals for the system's tools, such as Instruments.
struct Signposts: Sendable {
    private let poster: OSSignposter

    init(subsystem: String, category: String) {
        poster = OSSignposter(subsystem: subsystem, category: category)
    }

    /// Whether a tool is recording intervals; the check costs almost nothing.
    var isEnabled: Bool { poster.isEnabled }

    /// Begins the interval in which a job waits; intervals of one kind differ by their numbers.
    func beginWaiting(_ number: UInt64, _ label: @autoclosure () -> String) {
        guard isEnabled else { return }
        let label = label()
        _ = poster.beginInterval("Waiting", id: OSSignpostID(number), "\(label, privacy: .public)")
    }

    func endWaiting(_ number: UInt64) {
        guard isEnabled else { return }
        // The interval may have begun on another thread; the number identifies it.
        poster.endInterval("Waiting", .beginState(id: OSSignpostID(number)))
    }

    func beginRunning(_ number: UInt64, _ label: @autoclosure () -> String) {
        guard isEnabled else { return }
        let label = label()
        _ = poster.beginInterval("Running", id: OSSignpostID(number), "\(label, privacy: .public)")
    }

    func endRunning(_ number: UInt64) {
        guard isEnabled else { return }
        poster.endInterval("Running", .beginState(id: OSSignpostID(number)))
    }
}
#endif
