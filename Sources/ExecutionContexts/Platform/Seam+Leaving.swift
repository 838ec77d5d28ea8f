internal import CPlatform

// What a simulated thread gives to what is not simulated.
extension Seam {
    /// Has the simulation of the calling thread run `work` in the place of a context that runs it anywhere, with the marks
    /// of that one; false where there is no simulation.
    @inline(__always)
    static func submit(_ work: @escaping Work, for owner: Frame.Owner) -> Bool {
        guard isAnywhere, let simulation = current else { return false }
        // Unsafe in name only: it is compared, and never followed.
        nonisolated(unsafe) let owner = unsafe owner
        simulation.submit { unsafe Frame.enter(owner) { work() } }
        return true
    }

    /// Says that work goes to a context that no simulation can stand for. Only a simulation is interested.
    @inline(__always)
    static func leaves(for name: @autoclosure () -> String) {
        if isAnywhere { current?.didLeave(for: name()) }
    }

    /// Whether a simulator is at work anywhere, so that it is worth looking whether it is at work here.
    @inline(__always)
    static var isAnywhere: Bool { ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 }
}
