/// A simulation in which delays and time limits are those of the simulation, too.
package protocol TimedSimulation: Simulation {
    /// What stands for real time.
    var time: any TimeSource { get }
}

extension SystemTime {
    /// Real time, or what stands for it where the calling thread is simulated.
    static var ofCaller: any TimeSource {
        guard Seam.isAnywhere, let simulation = Seam.current as? any TimedSimulation else { return shared }
        return simulation.time
    }
}
