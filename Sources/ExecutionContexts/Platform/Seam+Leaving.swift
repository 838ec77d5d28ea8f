internal import CPlatform

// What a simulated thread gives to what is not simulated.
extension Seam {
    /// Has the simulation of the calling thread run `work` in the place of a context that runs it anywhere, with the marks
    /// of that one; false where there is no simulation.
    @inline(__always)
    static func submit(_ work: @escaping Work, for owner: Frame.Owner) -> Bool {
        guard isAnywhere else { return false }
        refuseInFork("a pool")
        guard let simulation = current else { return false }
        // Unsafe in name only: it is compared, and never followed.
        nonisolated(unsafe) let owner = unsafe owner
        simulation.submit { unsafe Frame.enterJobs(of: owner) { work() } }
        return true
    }

    /// Says that work goes to a context that no simulation can stand for. Only a simulation is interested.
    @inline(__always)
    static func leaves(for name: @autoclosure () -> String) {
        guard isAnywhere else { return }
        refuseInFork(name())
        current?.didLeave(for: name())
    }

    /// Whether a simulator is at work anywhere, so that it is worth looking whether it is at work here; or whether
    /// this is a forked child, where no thread comes for a job.
    @inline(__always)
    static var isAnywhere: Bool { ec_mode() & UInt32(EC_MODE_SIMULATED | EC_MODE_FORKED) != 0 }

    /// Traps in a forked child, whose parent's threads are not there to run a job.
    private static func refuseInFork(_ name: @autoclosure () -> String) {
        require(
            ec_mode() & UInt32(EC_MODE_FORKED) == 0,
            "A forked child gave a job to '\(name())', and has none of the parent's threads that would run it "
                + "(law 34). Call exec in the child, or fork before the library's first use.")
    }
}
