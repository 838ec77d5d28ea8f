#if canImport(Darwin)
internal import os

/// Where the system's tools take down intervals, such as Instruments.
struct Signposts: Sendable {
    private let poster: OSSignposter

    init(subsystem: String, category: String) {
        poster = OSSignposter(subsystem: subsystem, category: category)
    }

    /// Whether anybody takes them down now; it costs next to nothing to ask.
    var isEnabled: Bool { poster.isEnabled }

    /// A piece of work waits; intervals of one kind differ by their numbers.
    func beginWaiting(_ number: UInt64, _ label: @autoclosure () -> String) {
        guard isEnabled else { return }
        let label = label()
        _ = poster.beginInterval("Waiting", id: OSSignpostID(number), "\(label, privacy: .public)")
    }

    func endWaiting(_ number: UInt64) {
        guard isEnabled else { return }
        // Begun on another thread perhaps: the number says which.
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
