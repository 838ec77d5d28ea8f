internal import CPlatform

// The jobs that a thread submits, to its simulation or outside of it.
extension SimulationHooks {
    /// Runs `work` in the calling thread's simulation, with frames of `owner`; false outside of a
    /// simulation.
    ///
    /// For jobs that any thread may run: the simulation replaces the owner, whose name is `name`.
    @inline(__always)
    static func submit(
        _ work: @escaping Work, for owner: Frame.Owner, named name: @autoclosure () -> String
    ) -> Bool {
        guard isAnywhere else { return false }
        refuseInFork(name())
        guard let simulation = current else { return false }
        // Unsafe in name only: it is compared, and never dereferenced.
        nonisolated(unsafe) let owner = unsafe owner
        simulation.submit { unsafe Frame.enterJobs(of: owner) { work() } }
        return true
    }

    /// Reports that a job goes to what has this name, and that no simulation can replace it.
    ///
    /// Traps in a forked child.
    @inline(__always)
    static func willSubmitOutside(to name: @autoclosure () -> String) {
        guard isAnywhere else { return }
        refuseInFork(name())
        current?.willSubmitOutside(to: name())
    }

    /// Whether any thread is simulated, so that a look for the caller's simulation is worth it;
    /// true in a forked child, too.
    ///
    /// No thread comes for a job in a forked child.
    @inline(__always)
    package static var isAnywhere: Bool {
        ec_mode() & UInt32(EC_MODE_SIMULATED | EC_MODE_FORKED) != 0
    }

    /// The number of the calling thread; zero, which no thread has, if a thread may be simulated.
    package static var threadOutsideSimulations: UInt32 { isAnywhere ? 0 : thread }

    /// Whether this process is a child that was forked, and has not called exec.
    static var isForked: Bool { ec_mode() & UInt32(EC_MODE_FORKED) != 0 }

    /// Traps in a forked child, which has none of the parent's threads that would run a job.
    private static func refuseInFork(_ name: @autoclosure () -> String) {
        require(
            !isForked,
            "A forked child gave a job to '\(name())', and has none of the parent's threads that would run it "
                + "(law 34). Call exec in the child, or fork before the library's first use.")
    }
}
