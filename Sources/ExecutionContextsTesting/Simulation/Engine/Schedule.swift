/// A point of a program at which another thread runs next than by default, or at which a chance
/// comes true.
struct Switch: Hashable, Sendable {
    /// The running thread.
    var thread: Int
    /// The number of its next operation.
    var operation: Int
    /// The thread that runs next; `Schedule.time` stands for the clock, and `Schedule.chance` for
    /// what happens by chance.
    var target: Int
}

/// Which thread runs at each point. By default a thread runs until it cannot, and then the next one
/// runs, except at the switches.
///
/// This one form is recorded, replayed, shrunk and written into a token.
struct Schedule: Hashable, Sendable {
    var switches: [Switch] = []

    /// The number that stands for the clock instead of a thread.
    static let time = 63
    /// The number that stands for a chance.
    static let chance = 62
    /// How many simulated threads there may be.
    static let mostThreads = 62
}
