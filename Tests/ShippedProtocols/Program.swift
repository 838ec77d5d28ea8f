import ExecutionContextsTesting
import TestSupport

/// What threads do to a protocol, and what must be true of it.
struct Program: CustomStringConvertible, Sendable {
    let description: String
    var isPortable = false
    let build: @Sendable (SimulatedWorld) -> Void

    func search(schedules: Int) -> SimulationReport {
        ExecutionContextsTesting.search(description, schedules: schedules) { sim in
            World.begin(isPortable: isPortable, sim)
            build(sim)
        }
    }

    /// The orders that its operations have, each of which could be a weaker one.
    func weakenings(schedules: Int = rounds(debug: 15, release: 50)) -> Set<Weakening> {
        (World.weakening, World.weakenings, World.notes) = (nil, [], true)
        defer { World.notes = false }
        _ = search(schedules: schedules)
        return World.weakenings
    }
}
