internal import Synchronization

/// The settings of one search.
struct Settings: Sendable {
    var name: String
    var schedules: Int
    var strategy: SimulationStrategy
    var time: SimulationTime
    var seed: UInt64
    var steps: Int
    /// The instant at which time ends, in nanoseconds.
    var horizon: Int64
    var patience: Duration
    var ignoring: Set<SimulationFailure.Kind>

    /// How long a search runs in real time; nil if only the number of schedules limits it.
    var limit: Duration?

    /// Ends the search early.
    var cancelling = Cancelling()
    /// Happens when no thread of it runs any more: later than the report of a blocked thread.
    var isOver = Signal()
    /// Whether it prints what the program has used that the search does not control.
    var printsUncontrolled = true
    /// Whether its failures have tokens that a search can replay.
    var isSearch = true

    /// The settings that a token depends on.
    var identity: String { time == .racing ? name + " racing" : name }
}

/// Requests that a search ends after the running schedule.
final class Cancelling: Sendable {
    private let isSet = Atomic(false)

    // Relaxed, here and below: any later schedule may be the last one.
    func request() { isSet.store(true, ordering: .relaxed) }
    var isRequested: Bool { isSet.load(ordering: .relaxed) }
}
