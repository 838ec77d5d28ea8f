/// What a caller is about to wait for, found out before it blocks, so that an endless wait traps
/// (law 27).
package struct WaitForecast {
    /// The name of a context that runs the caller's job and can run no other job before that one
    /// ends.
    package var obstacle: String?
    /// What the caller is inside of, if not a job of the obstacle, and what ends it; for the
    /// message.
    private(set) var inside: (scope: String, end: String)?
    /// Drives the context of a test until the end has come, in place of the test: it runs the jobs
    /// that are ready, and waits for one if none is.
    package var driver: (@Sendable (_ end: AwaitedEnd) -> Void)?
    /// The limiters that would have to run another job, and whose jobs the caller is inside of.
    var limiters: [any Limiter] = []
    /// The name of a context that starts no more jobs, because its token was invalidated.
    package var invalidated: String?
    /// Looks for an obstacle that cannot be known at once. The waiter calls it with the view's name
    /// after a second.
    var probe: ((_ name: String) -> Void)?
    /// Whether the system may be queried, which traps if the wait would never end.
    var mayTrap = true

    /// Whether the wait may have to drive the context, or may never end.
    var isUnclear: Bool { obstacle != nil || driver != nil || !limiters.isEmpty || probe != nil }

    package static func of(_ context: some ExecutionContext) -> WaitForecast {
        var forecast = WaitForecast()
        forecast.followUnlessHelped(context)
        return forecast
    }

    /// Examines `context` and the contexts that it runs on.
    package mutating func follow(_ context: some ExecutionContext) {
        if obstacle != nil { return }
        let facts = context.facts
        if let forecast = facts.forecast { return forecast(&self) }
        if context is any SerialContext, context.isCurrent == true {
            return obstacle = context.name
        }
        if let view = facts.view { follow(view.base) }
    }

    /// Examines `context`, unless it runs anywhere: a thread that waits there may run its jobs.
    mutating func followUnlessHelped(_ context: some ExecutionContext) {
        if !context.runsAnywhere { follow(context) }
    }

    /// Records that the caller is inside `scope`, which is not a job of the context of that name.
    mutating func obstruct(_ name: String, inside scope: String, until end: String) {
        obstacle = name
        inside = (scope, end)
    }

    /// Traps if the caller keeps the job that it waits for from running.
    func trapIfObstructed(_ name: String) {
        guard let obstacle else { return }
        let inside = inside ?? ("a job of '\(obstacle)', on which it runs", "that job has ended")
        Self.trapEndless(name, inside.scope, until: inside.end)
    }

    static func trapEndless(
        _ name: String, _ scope: String, until end: String = "that job has ended"
    ) -> Never {
        stopMisuse(
            "'\(name)' was waited for from within \(scope): it can run only when \(end), and the wait would never "
                + "end (law 27). Submit the work with execute or run, or wait elsewhere.")
    }
}

/// A context that runs at most n jobs at a time.
protocol Limiter: AnyObject, Sendable {
    var name: String { get }
    /// Records that the caller, inside jobs of the limiter, waits for `end`, which needs another
    /// job of it. Returns true if all running jobs wait, and no other can start.
    func jobWaits(for end: AwaitedEnd) -> Bool
    func jobResumes(after end: AwaitedEnd)
}

/// The jobs of a limiter that wait for another one of its jobs. Its owner guards it.
struct WaitingJobs: ~Copyable {
    /// The address of its frame, valid while its thread waits, identifies a job. One thread may be
    /// inside several jobs, and one job may be in several waits.
    private var waits: [(job: UInt, end: AwaitedEnd)] = []

    /// Records that the jobs wait for `end`; true if at least `count` jobs wait. A job whose end
    /// has come does not wait, even if its thread has not been woken yet.
    mutating func begin(_ jobs: [UInt], for end: AwaitedEnd, reaching count: Int) -> Bool {
        for job in jobs { waits.append((job, end)) }
        guard waits.count >= count else { return false }
        var waiting: Set<UInt> = []
        for wait in waits where !wait.end.isDone { waiting.insert(wait.job) }
        return waiting.count >= count
    }

    mutating func end(_ end: AwaitedEnd) { waits.removeAll { $0.end === end } }
}
