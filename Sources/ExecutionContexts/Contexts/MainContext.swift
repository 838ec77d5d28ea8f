internal import CPlatform
internal import Dispatch

/// Runs work on the main queue, where the main actor runs.
///
/// Main means the main *queue and actor*, not the main thread (law 4). In an app and under a run
/// loop they are the same. After `dispatchMain()`, and after the first suspension of an async
/// `main`, other threads serve the main queue: `Thread.isMainThread` is false there, and
/// `isCurrent` is still true.
public final class MainContext: MainActorContext, ActorBackingContext, SynchronousBarrierContext {
    /// Makes the context; all are alike.
    public init() {}

    fileprivate static let shared = MainContext()

    /// Waits for `body` to run on the main queue; on the main queue it runs at once.
    @_disfavoredOverload
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if QueueMark.isCallerOnMain { return try body() }
        // Another thread may release the hold while the closure runs.
        if Self.mark.exclusiveOwner.isMine, Self.mark.exclusiveOwner.holdAgain() {
            defer { Self.endHold() }
            return try body()
        }
        require(
            !isAwaitingCaller,
            "The main context was waited for from within work that the main context itself waits for: it would wait for "
                + "ever (law 27). Submit the work with execute or run.")
        let caller = Caller.current
        return try withoutActuallyEscaping(body) { (body) throws(Failure) -> Value in
            // Unsafe in name only: the caller waits while the main queue runs it.
            nonisolated(unsafe) let body = body
            // Swift 6.2 isolates a closure that is given to `DispatchQueue.main` by that name.
            let queue = DispatchQueue.main
            let owners = unsafe NestedWait.Owners(Self.mark.running, Self.mark.exclusive)
            return try NestedWait.during(for: owners, isForMain: true, named: .text(name)) {
                BlockingScope.calling { queue.sync { unsafe caller.result(body) } }
            }.get()
        }
    }

    /// Gives the caller exclusive access to the main queue. Make it short: the main thread waits.
    public func hold() -> ExclusiveHold {
        if !Self.mark.exclusiveOwner.holdAgain() {
            if QueueMark.isCallerOnMain { return .nothing }
            // The main queue cannot be suspended.
            let occupation = Occupation.begin(in: self)
            Self.mark.exclusiveOwner.begin()
            Self.occupation.withLock { $0 = occupation }
        }
        return ExclusiveHold(releasing: Self.endHold)
    }

    /// The last release ends the occupation, whichever hold was made first.
    private static func endHold() {
        if mark.exclusiveOwner.end() { occupation.withLock { $0.take() }?.end() }
    }

    /// Yes on the main queue, on the main thread, which owns it, and for its holder; else unknown.
    public var isCurrent: Bool? {
        Self.mark.exclusiveOwner.isMine || QueueMark.isCallerOnMain ? true : nil
    }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(.main))
        return true
    }

    public var name: String { "main" }

    public var facts: ContextFacts {
        ContextFacts { [self] forecast in
            if isCurrent == true || isAwaitingCaller { return forecast.obstacle = name }
            forecast.checkIsNotOn(.main, named: name)
        }
    }

    /// Whether work of the main queue waits for the caller, which runs on another thread.
    private var isAwaitingCaller: Bool {
        unsafe Threads.isForMain || Frame.isCurrent(Self.mark.running)
    }

    fileprivate static var mark: QueueMark { .main }
    /// There is one main queue, so it has one holder.
    private static let occupation = Guarded<Occupation?>(nil)
}

extension ExecutionContext where Self == MainContext {
    // In an extension, and disfavored. In the type itself, or preferred, it would keep the compiler
    // from inferring the main actor for a caller's closure.
    @_disfavoredOverload
    public func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        let job = unsafe QueueJob(consume work, of: Self.mark.running)
        DispatchQueue.main.async { job.run() }
    }

    /// The main queue and actor.
    public static var main: MainContext { .shared }
}
