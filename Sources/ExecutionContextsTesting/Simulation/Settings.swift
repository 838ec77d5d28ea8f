/// What one search was asked for.
struct Settings: Sendable {
    var name: String
    var schedules: Int
    var strategy: SimulationStrategy
    var time: SimulationTime
    var seed: UInt64
    var steps: Int
    /// The moment at which time ends, in nanoseconds.
    var horizon: Int64
    var patience: Duration
    var ignoring: Set<SimulationFailure.Kind>

    /// What a token depends on.
    var identity: String { time == .racing ? name + " racing" : name }
}
