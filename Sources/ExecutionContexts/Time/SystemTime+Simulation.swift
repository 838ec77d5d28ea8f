/// A simulation in which delays and time limits are those of the simulation, too.
package protocol TimedSimulation: Simulation {
    /// The time source that replaces real time.
    var time: any TimeSource { get }
}

extension SystemTime {
    /// Real time, or the simulation's time where the calling thread is simulated.
    static var ofCaller: any TimeSource {
        guard SimulationHooks.isAnywhere,
            let simulation = SimulationHooks.current as? any TimedSimulation
        else { return shared }
        return simulation.time
    }
}
