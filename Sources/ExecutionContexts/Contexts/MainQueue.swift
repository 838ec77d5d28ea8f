internal import Dispatch
internal import Foundation

/// Runs work on the main queue, which is where the main actor runs.
///
/// Main means the main *queue and actor*, not the main thread (law 4). In an app and under a run loop they
/// are the same. After `dispatchMain()`, and after the first suspension of an async `main`, the main queue
/// is served by other threads: `Thread.isMainThread` is false there, and `isCurrent` is still true.
public struct MainContext: ActorBackingContext, SynchronousBarrierContext, ForeseeingContext {
    /// Makes the context; all are alike.
    public init() {}

    /// Runs a closure of the main actor on the main queue.
    public func execute(_ work: consuming @escaping @MainActor @Sendable () -> Void) {
        Seam.leaves(for: name)
        submit(Self.plain(consume work))
    }

    private static func plain(_ work: @escaping @MainActor @Sendable () -> Void) -> Work {
        { MainActor.assumeIsolated(work) }
    }

    /// Waits for `body` to run on the main queue; from the main queue it runs at once.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isCurrent == true { return try body() }
        require(
            !isAwaitingCaller,
            "The main context was waited for from within work that the main context itself waits for: it would wait for "
                + "ever (law 27). Submit the work with execute or run.")
        let caller = Caller.current
        return try withoutActuallyEscaping(body) { (body) throws(Failure) -> Value in
            // Unsafe in name only: the caller waits while the main queue runs it.
            nonisolated(unsafe) let body = body
            return try LentThread.calling { DispatchQueue.main.sync { unsafe caller.result(body) } }.get()
        }
    }

    /// Keeps the main queue to the caller. The main thread waits meanwhile: make it short.
    public func hold() -> ExclusiveHold {
        if !Self.mark.holding.holdAgain() {
            if isOnMain { return .nothing }
            // The main queue cannot be suspended.
            let occupation = Occupation.begin(in: self)
            Self.mark.holding.begin()
            Self.occupation.withLock { $0 = occupation }
        }
        return ExclusiveHold(releasing: {
            // The last one to be released ends it, whichever was made first.
            if Self.mark.holding.end() { Self.occupation.withLock { $0.take() }?.end() }
        })
    }

    /// Yes on the main queue and on the main thread, which has it, and for who holds it; otherwise not known.
    public var isCurrent: Bool? {
        Self.mark.holding.isMine || isOnMain ? true : nil
    }

    /// Whether the caller is known to be on the main queue or the main thread.
    private var isOnMain: Bool {
        // A key that is found is a yes. One that is missing may be hidden by a nested `sync` (law 4).
        // As long as the main queue belongs to the main thread, being there is holding it; once the queue
        // has been handed to the system, no code of ours runs on that thread any more.
        Self.mark.isCurrent == true || Thread.isMainThread
    }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(.main))
        return true
    }

    public var name: String { "main" }

    package func foresee(_ outlook: inout Outlook) {
        if isCurrent == true || isAwaitingCaller { return outlook.obstacle = name }
        // Where another queue's `sync` hides that the caller is on it, the system knows and traps.
        dispatchPrecondition(condition: .notOnQueue(.main))
    }

    /// Whether the caller runs, on another thread, what work of the main queue waits for.
    private var isAwaitingCaller: Bool {
        unsafe Threads.isForMain || Frame.isCurrent(Self.mark.running)
    }

    fileprivate func submit(_ work: consuming @escaping Work) {
        let job = unsafe QueueJob(consume work, of: Self.mark.running)
        DispatchQueue.main.async { job.run() }
    }

    /// There is one main queue, so there is one mark of it, and one holder.
    private static let mark = Seam.making { QueueMark.of(.main) }
    private static let occupation = Guarded<Occupation?>(nil)
}

extension MainContext {
    /// This context without its overloads for closures of the main actor, which call the general ones.
    var general: some ExecutionContext { self }

    /// Runs a closure of the main actor on the main queue after a delay (law 7).
    @discardableResult
    public func schedule(
        after delay: Duration, tolerance: Duration = .zero, fileID: StaticString = #fileID,
        line: UInt = #line, _ work: @escaping @MainActor @Sendable () -> Void
    ) -> DelayedWork {
        let plain: Work = { MainActor.assumeIsolated(work) }
        return general.schedule(after: delay, tolerance: tolerance, fileID: fileID, line: line, plain)
    }

    /// Runs a closure of the main actor on the main queue after so many seconds (law 7).
    @discardableResult
    public func schedule(
        after seconds: Double, tolerance: Duration = .zero, fileID: StaticString = #fileID,
        line: UInt = #line, _ work: @escaping @MainActor @Sendable () -> Void
    ) -> DelayedWork {
        let plain: Work = { MainActor.assumeIsolated(work) }
        return general.schedule(after: seconds, tolerance: tolerance, fileID: fileID, line: line, plain)
    }
}

extension ExecutionContext where Self == MainContext {
    // The requirement's witness stands here and is disfavoured: next to it, or preferred, the compiler would
    // not see the closure of the main actor that a caller writes.
    @_disfavoredOverload
    public func execute(_ work: consuming @escaping Work) {
        Seam.leaves(for: name)
        submit(consume work)
    }

    /// The main queue and actor.
    public static var main: MainContext { MainContext() }
}
