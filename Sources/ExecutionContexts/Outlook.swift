/// What a thread that is about to wait for work of a context finds out, from the context down to
/// the threads.
///
/// A wait that could never end traps with a message, and one for a context that a test drives is
/// driven (law 27).
package struct Outlook {
    /// The name of a context whose present job is the caller's, and which can run no other before
    /// that one ends.
    package var obstacle: String?
    /// What else than a job of the obstacle the caller is inside of, in words, and what ends it.
    private(set) var inside: (place: String, end: String)?
    /// The context that runs its jobs only while a thread drives it.
    package var driver: (any DrivenContext)?
    /// The contexts with a limit whose jobs the caller's thread is inside of, and which would have
    /// to run another one.
    var limiters: [any Limiter] = []
    /// The name of a context that starts nothing any more, since its token was invalidated.
    package var invalidated: String?
    /// Looks for an obstacle that cannot be known at once, when the wait for the view of that name
    /// has lasted for a second.
    var probe: ((_ name: String) -> Void)?

    /// Whether a wait may have to drive the context, or may never end.
    var isUnclear: Bool { obstacle != nil || driver != nil || !limiters.isEmpty || probe != nil }

    package static func of(_ context: some ExecutionContext) -> Outlook {
        var outlook = Outlook()
        outlook.followUnlessHelped(context)
        return outlook
    }

    /// Looks at `context` and at what it runs on.
    package mutating func follow(_ context: some ExecutionContext) {
        if obstacle != nil { return }
        if let context = context as? any ForeseeingContext { return context.foresee(&self) }
        if context is any SerialContext, context.isCurrent == true { return obstacle = context.name }
        if let decorator = context as? any ContextDecorator { followBase(of: decorator) }
    }

    /// Looks at `context`, unless a thread that waits there may run its jobs, too: then it is not
    /// known that nobody will.
    mutating func followUnlessHelped(_ context: some ExecutionContext) {
        if !context.runsAnywhere { follow(context) }
    }

    /// The caller is inside `place`, which is not a job of the context of that name.
    mutating func obstruct(_ name: String, inside place: String, until end: String) {
        obstacle = name
        inside = (place, end)
    }

    /// Traps if the caller keeps what it waits for from running.
    func stopIfObstructed(_ name: String) {
        guard let obstacle else { return }
        let inside = inside ?? ("a job of '\(obstacle)', on which it runs", "that job has ended")
        Self.stopEndless(name, inside.place, until: inside.end)
    }

    static func stopEndless(_ name: String, _ place: String, until end: String = "that job has ended")
        -> Never
    {
        stopMisuse(
            "'\(name)' was waited for from within \(place): it has its turn when \(end), and the wait would never "
                + "end (law 27). Submit the work with execute or run, or wait elsewhere.")
    }

    private mutating func followBase(of decorator: some ContextDecorator) { follow(decorator.base) }
}

/// A context that knows whether its jobs can run while the caller waits for one of them.
package protocol ForeseeingContext: ExecutionContext {
    /// Adds what it knows, and what the context knows that it runs on.
    func foresee(_ outlook: inout Outlook)
}

/// A context whose jobs run only while a thread drives it, as a test does.
package protocol DrivenContext: ExecutionContext {
    /// Runs the jobs that are ready until the end has come; where none is ready, it waits for one
    /// or for the end.
    func drive(until end: AwaitedEnd)
}

/// A context that runs so many jobs at a time.
protocol Limiter: AnyObject, Sendable {
    var name: String { get }
    /// The caller, who is inside of one or more of its jobs, begins to wait for `end`, which needs
    /// another one. True if now all wait that run, and no other can start.
    func jobWaits(for end: AwaitedEnd) -> Bool
    func jobGoesOn(after end: AwaitedEnd)
}

/// The jobs of a limiter that wait for another one of its jobs. Its owner guards it.
struct WaitingJobs: ~Copyable {
    /// A job is known by the frame that it runs in, which stands for as long as its thread waits.
    ///
    /// One thread may be inside several jobs, and several waits may keep one job.
    private var waits: [(job: UInt, end: AwaitedEnd)] = []

    /// The jobs wait for `end` from now on; true if so many wait.
    ///
    /// A job whose end has come waits no more, even if its thread has not been woken yet.
    mutating func begin(_ jobs: [UInt], for end: AwaitedEnd, reaching count: Int) -> Bool {
        for job in jobs { waits.append((job, end)) }
        guard waits.count >= count else { return false }
        var waiting: Set<UInt> = []
        for wait in waits where !wait.end.hasRun { waiting.insert(wait.job) }
        return waiting.count >= count
    }

    mutating func end(_ end: AwaitedEnd) { waits.removeAll { $0.end === end } }
}
