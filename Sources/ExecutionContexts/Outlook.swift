/// What a thread that is about to wait for work of a context finds out, from the context down to
/// the threads.
///
/// A wait that could never end traps with a message, and one for a context that a test drives is
/// driven (law 27).
package struct Outlook {
    /// The name of a context whose present job is the caller's, and which can run no other before
    /// that one ends.
    package var obstacle: String?
    /// The context that runs its jobs only while a thread drives it.
    package var driver: (any DrivenContext)?
    /// The views with a limit whose jobs the caller's thread is inside of, and which would have to
    /// run another one.
    var limiters: [any Limiter] = []
    /// The name of a context that starts nothing any more, since its token was invalidated.
    package var invalidated: String?
    /// Has the system look for an obstacle that only it can know.
    var probe: (context: String, run: () -> Void)?

    /// Whether a wait may have to drive the context, or may never end.
    var isUnclear: Bool { obstacle != nil || driver != nil || !limiters.isEmpty || probe != nil }

    package static func of(_ context: some ExecutionContext) -> Outlook {
        var outlook = Outlook()
        outlook.follow(context)
        return outlook
    }

    /// Looks at `context` and at what it runs on.
    package mutating func follow(_ context: some ExecutionContext) {
        if obstacle != nil { return }
        if let context = context as? any ForeseeingContext { return context.foresee(&self) }
        if context is any SerialContext, context.isCurrent == true { return obstacle = context.name }
        if let decorator = context as? any ContextDecorator { followBase(of: decorator) }
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

/// A view that runs so many jobs at a time.
protocol Limiter: AnyObject, Sendable {
    var name: String { get }
    /// One of its jobs begins to wait for another one. True if now all wait that run, and no other
    /// can start.
    func jobWaits() -> Bool
    func jobGoesOn()
}
