public import ExecutionContexts

/// A manual context whose jobs run on the main actor: a test double for `.main`.
///
/// ```swift
/// @MainActor final class Wall { var birds: [String] = [] }
/// @MainActor func showsBirds() {
///     let (ui, wall) = (ManualMainContext(), Wall())
///     Async(.success(["wren"])).onSuccess(on: ui) { wall.birds = $0 }
///     #expect(wall.birds.isEmpty)
///     ui.runReady()
///     #expect(wall.birds == ["wren"])
/// }
/// ```
///
/// It is a ``ManualContext``, in virtual time, that only code on the main actor drives. Its `base`
/// has the rest of that type's methods. Driving the base elsewhere, also through a time that
/// several contexts share, traps at the first job.
public final class ManualMainContext: ContextDecorator, MainActorContext, ActorBackingContext,
    SynchronousContext
{
    /// The context that owns the jobs and the time.
    public let base: ManualContext

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - name: its name in messages.
    ///   - time: its time; by default a new one at zero.
    public init(name: String = "main", time: ManualTime = ManualTime()) {
        base = ManualContext(name: name, time: time)
    }

    public func decorate(_ work: @escaping Work) -> Work {
        { [name] in
            require(
                MainContext().isCurrent == true,
                "A job of '\(name)', whose jobs run on the main actor, was run elsewhere (law 4). Drive it, and a time "
                    + "that it shares, on the main actor.")
            work()
        }
    }

    /// The current instant of this context's time. It starts at zero.
    public var now: ContextInstant { base.now }

    /// Runs the oldest job that is due; returns false if there is none. Time does not advance.
    @discardableResult
    @MainActor public func step() -> Bool { base.step() }

    /// Runs the jobs that are due, and those that become due by them; returns how many ran.
    @discardableResult
    @MainActor public func runReady() -> Int { base.runReady() }

    /// Advances time by `duration` and runs, in order, every job that becomes due.
    @MainActor public func advance(by duration: Duration) { base.advance(by: duration) }

    /// Runs every job, advancing time from delay to delay, until only background work is pending.
    ///
    /// - Returns: how many jobs ran.
    @discardableResult
    @MainActor public func runUntilIdle(
        limit: Int = 100_000, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> Int { try base.runUntilIdle(limit: limit, fileID: fileID, line: line) }

    /// Throws if jobs are pending, which it then drops; call it last.
    @MainActor public func finish(fileID: StaticString = #fileID, line: UInt = #line) throws {
        try base.finish(fileID: fileID, line: line)
    }
}
