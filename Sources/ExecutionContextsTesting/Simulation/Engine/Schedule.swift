/// A point of a program at which another thread runs next than by default, or at which a chance
/// comes true.
struct Switch: Hashable, Sendable {
    /// The running thread.
    var thread: Int
    /// The number of its next operation.
    var operation: Int
    /// The thread that runs next; `Schedule.time` means the clock, and `Schedule.chance` means that
    /// a chance comes true.
    var target: Int
}

/// Which thread runs at each point. By default a thread runs until it cannot continue, and the next
/// one follows, except at the switches.
///
/// This is the only form of a schedule: it is recorded, replayed, shrunk and encoded in a token.
struct Schedule: Hashable, Sendable {
    var switches: [Switch] = []

    /// The number of the clock, in place of a thread.
    static let time = 63
    /// The number of a chance, in place of a thread.
    static let chance = 62
    /// How many simulated threads there may be.
    static let mostThreads = 62
}
