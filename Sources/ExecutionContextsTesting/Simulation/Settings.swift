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

    /// The settings that a token depends on.
    var identity: String { time == .racing ? name + " racing" : name }
}
