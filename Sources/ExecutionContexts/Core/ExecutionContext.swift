/// Something that runs work: it takes a closure and runs it later, on some thread.
///
/// Declare a function's parameter as `some ExecutionContext` and a service's stored property as
/// `any ExecutionContext`, and let the caller choose the context:
///
/// ```swift
/// func load(
///     _ url: URL, on context: some ExecutionContext, then use: @escaping @Sendable (Data) -> Void
/// ) {
///     context.execute { use(Data()) }
/// }
///
/// load(url, on: .main) { data in print(data.count) }
/// ```
///
/// `execute(_:)` is the only requirement without a default:
///
/// ```swift
/// struct ThreadPerJob: ExecutionContext {
///     func execute(_ work: @escaping Work) { Thread { work() }.start() }
/// }
/// ```
///
/// Every decorator of this library forwards the other requirements (law 8). `Docs/Guarantees.md`
/// numbers what a caller may rely on. The law kit in `ExecutionContextsTesting` checks a context
/// against it.
public protocol ExecutionContext: Sendable {
    /// Runs `work` exactly once, now or later, and never refuses (law 1).
    ///
    /// The context releases the closure right after it ran, where it ran (law 10): it owns the
    /// closure from the call on. A context of your own may leave `consuming` out.
    // Disfavored, so that on the main actor the overload for its closures wins, also at the end of
    // a chain of views.
    @_disfavoredOverload
    func execute(_ work: consuming @escaping Work)

    /// Runs `work` like `execute`, but never on the caller before the call returns.
    ///
    /// Callers that must not be delayed submit by this method: the timer, whose thread serves the
    /// delays of all contexts (law 7), and a view that gives its thread back. The default is
    /// `execute`. A context whose `execute` runs work on the caller uses another thread here.
    func enqueue(_ work: consuming @escaping Work)

    /// Runs `work` once, or calls `refused` once with the reason: never both.
    ///
    /// Submissions with a caller that awaits a result (`run`, `submit`) use this method. The
    /// default is `execute`, for a context that never refuses. `refused` may be called before or
    /// after the call returns.
    func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void)

    /// Whether the caller is running on this context: yes, no, or nil if it is not known.
    ///
    /// It is never yes by mistake (law 4). The default is nil. A context that answers no to the
    /// caller of a `sync`, on a view of it, runs the body on its own thread. A property of type
    /// `Bool` is another one, which the library does not see.
    var isCurrent: Bool? { get }

    /// Traps if the caller is elsewhere, and returns whether that could be checked at all.
    ///
    /// Implement it for a system facility that can check but not report, such as a dispatch queue;
    /// the default returns false. Call `preconditionIsCurrent()`, which calls this only if
    /// `isCurrent` is nil.
    func checkIsCurrent() -> Bool

    /// Binds to a job what it needs of its submitter; nil if it needs nothing.
    ///
    /// Code that submits work later or in another job uses it: a view with its own queue, a delay.
    /// The default is nil. `propagating` binds task-local values by it.
    var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? { get }

    /// The time source of every delay, repetition and time limit of this context (law 7).
    ///
    /// The default is `SystemTime.shared`, or its replacement in a simulation. Every view of a
    /// context has the time source of that context, for example a virtual one.
    var time: any TimeSource { get }

    /// Whether any thread may run this context's work.
    ///
    /// A thread that waits for a job may then run it itself, so waiting cannot exhaust the threads
    /// (law 20). The default is false; a pool and a context that runs work on the caller return
    /// true. A view with an order or a limit must return false: a waiting thread would run its work
    /// outside that order or limit.
    var runsAnywhere: Bool { get }

    /// The name of this context in messages and in tools.
    var name: String { get }

    /// What this library knows of its own contexts; leave it out in a context of your own.
    var facts: ContextFacts { get }
}

extension ExecutionContext {
    public func enqueue(_ work: consuming @escaping Work) { execute(consume work) }

    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        // Not kept by this frame while `work` may be dropped elsewhere (law 10).
        _ = consume refused
        execute(consume work)
    }

    public var isCurrent: Bool? { nil }

    public func checkIsCurrent() -> Bool { false }

    public var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? { nil }

    /// Returns `work` with what it needs of its submitter.
    @usableFromInline
    @inline(__always)
    func bound(_ work: consuming @escaping Work) -> Work {
        // Not `map`: a closure that passes through a generic function comes back in a thunk, which
        // is allocated.
        guard let submissionTransform else { return work }
        return submissionTransform(work)
    }

    public var time: any TimeSource { SystemTime.ofCaller }

    public var runsAnywhere: Bool { false }

    public var name: String { "\(Self.self)" }

    /// Runs `work` on this context: `context { ... }` is `context.execute { ... }`.
    @_disfavoredOverload
    public func callAsFunction(_ work: consuming @escaping Work) { execute(consume work) }

    /// Traps if the caller is not running on this context (law 4).
    ///
    /// It never traps by mistake: if nothing is known, it returns.
    public func preconditionIsCurrent(
        _ message: @autoclosure () -> String = "", fileID: StaticString = #fileID,
        file: StaticString = #file, line: UInt = #line
    ) {
        func stop() -> Never {
            stopMisuse(
                "\(fileID):\(line) must run on the context '\(name)' but runs elsewhere (law 4). "
                    + "Submit it there with execute or run. \(message())", file: file, line: line)
        }
        switch isCurrent {
        case true?: return
        case nil: SystemCheck.run({ _ = checkIsCurrent() }, orElse: stop)
        case false?: stop()
        }
    }

    /// Traps in debug builds if the caller is not running on this context (law 4).
    public func assertIsCurrent(
        _ message: @autoclosure () -> String = "", fileID: StaticString = #fileID,
        file: StaticString = #file, line: UInt = #line
    ) {
        assert(
            {
                preconditionIsCurrent(message(), fileID: fileID, file: file, line: line)
                return true
            }())
    }
}

/// A context that can run work exclusively.
///
/// A barrier starts after all work submitted before it has finished, and no work runs at the same
/// time. Work submitted after it starts after it ends (law 3). Delayed work counts as submitted
/// when it is due. The global contexts have no barriers; their view `barrier()` does.
public protocol BarrierContext: ExecutionContext {
    /// Runs `work` once, after all work submitted before it and before all work submitted after
    /// (law 3).
    func executeBarrier(_ work: consuming @escaping Work)
}

/// A context that runs one job at a time, in the order of submission (law 2).
///
/// Work submitted earlier *happens before* work submitted later, memory effects included. Every job
/// is a barrier, so a serial context is a barrier context. A serial context may refuse or drop
/// work, as a bounded view does, and its type then says so. One that does neither is an
/// ``ActorBackingContext``.
public protocol SerialContext: BarrierContext {}

/// A serial context that runs each job it is given, and so can be the executor of an actor (law
/// 13).
///
/// The context is the executor. An actor that keeps the context keeps its executor:
///
/// ```swift
/// actor Store {
///     private let context: any ActorBackingContext
///     nonisolated var unownedExecutor: UnownedSerialExecutor { context.asUnownedSerialExecutor() }
///     init(on context: some ActorBackingContext) { self.context = context }
/// }
/// ```
///
/// The runtime keeps no executor. So the actor must store the context, which is an object, and
/// `unownedExecutor` must not make a new one, such as a view.
///
/// Inside the context's jobs `assumeIsolated` on such an actor works. A serial view whose base
/// drops its jobs, as the base of `context.valid(while: token).serial()` may, runs the jobs of its
/// actors on the global context, in their order. Any other context that drops a job of an actor
/// traps.
///
/// A view that may refuse or drop work, such as `bounded` or `valid(while: token)`, never conforms,
/// because no other context may run a job of the actor. Conform a serial context of your own if its
/// `execute` runs all work that it is given:
///
/// ```swift
/// final class LoopContext: ActorBackingContext {
///     let queue: DispatchQueue
///     init(queue: DispatchQueue) { self.queue = queue }
///     func execute(_ work: @escaping Work) { queue.async(execute: work) }
/// }
/// ```
public protocol ActorBackingContext: SerialContext, SerialExecutor {}

extension SerialContext {
    public func executeBarrier(_ work: consuming @escaping Work) { execute(consume work) }
}

/// A context that a caller can wait on: `sync` returns when the body has run.
///
/// A body from inside the context's own work runs at once if that is safe. If it would wait for
/// itself, `sync` traps (law 27). If another queue's `sync` hides that the caller is on a dispatch
/// queue, the system traps.
///
/// The caller runs the body itself, unless the context means a certain thread. A body that runs on
/// another thread is inside of whatever the waiting thread is inside of (law 4).
public protocol SynchronousContext: ExecutionContext {
    /// Runs `body` on this context, waits for it, and returns its value or throws its error.
    // Disfavored, so that on a context of the main actor the overload for its closures wins.
    @_disfavoredOverload
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value
}

/// A context that a caller can wait on, and that can run the caller's body exclusively.
///
/// A `Transaction` needs `sync` for reads, and `syncBarrier` and `hold` for changes.
public protocol SynchronousBarrierContext: BarrierContext, SynchronousContext {
    /// Runs `body` exclusively, waits for it, and returns its value or throws its error (law 3).
    ///
    /// Inside the context's own exclusive work it runs at once; inside other work of it, it traps.
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value

    /// Waits until all work submitted before has ended, and gives the caller exclusive access.
    ///
    /// It is `syncBarrier` for code that cannot be a closure, such as a `_modify` accessor. The
    /// holder may use the context: its `sync`, `syncBarrier` and `hold` run at once.
    ///
    /// The holder is the task that called. Outside of tasks, it is the job of a context of this
    /// library. Outside of both, it is the thread; a block that was submitted directly to a
    /// dispatch queue counts as its thread. Any thread may release the hold, also after the holder
    /// has ended. Until then no other code is inside.
    ///
    /// Inside the context's own exclusive work the hold holds nothing. The default occupies one of
    /// the context's threads until the release, and its holder cannot hold twice.
    func hold() -> ExclusiveHold
}

extension SynchronousBarrierContext {
    public func hold() -> ExclusiveHold {
        if isCurrent == true {
            // Only the work of a serial context is always exclusive.
            if self is any SerialContext { return .nothing }
            stopMisuse(
                "'\(name)' cannot be held from within its own work: the hold would wait for that work to end (law 3). "
                    + "Submit the exclusive work with executeBarrier instead.")
        }
        return ExclusiveHold(releasing: Occupation.begin(in: self).end)
    }
}

extension SynchronousBarrierContext where Self: SerialContext {
    /// Runs `body` exclusively; on a serial context this is `sync`.
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try sync(body)
    }
}

/// A context that may refuse work, as its type says (law 1).
///
/// `tryExecute` throws if there is no room. Plain `execute` follows the context's stated policy,
/// and `run` and `submit` fail with the refusal. Work that is submitted by `enqueue` was accepted
/// before, such as a delay that is due or the next drain of a view, and is not refused.
public protocol RefusingContext: ExecutionContext {
    /// Submits `work`, or throws the reason why it will never run.
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal)
}

extension RefusingContext {
    /// Submits `work` by `tryExecute`, and calls `refused` with the error that it throws. A context
    /// that may also drop accepted work implements it, and calls `refused` then, too.
    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        do throws(Refusal) { try tryExecute(consume work) } catch { refused(error) }
    }
}

/// Why a job did not run and never will (law 1).
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// What became of the job.
    public enum Reason: Hashable, Sendable {
        /// There was no room: this many jobs were queued.
        case full(capacity: Int)
        /// It was accepted, and then dropped for newer work.
        case droppedForNewer
        /// The token of its context had been invalidated.
        case invalidated
        /// The context dropped the closure without running it.
        case abandoned
        /// Its context had been shut down.
        case shutDown
        /// The deadline of its submitter had passed before it began.
        case deadlinePassed
    }

    /// What became of the job.
    public var reason: Reason
    /// The name of the context that refused or dropped the job.
    public var context: String
    /// The source location of the submission, if it is known.
    public var sourceLocation: String?

    /// Makes a refusal, for a context of your own that refuses work.
    public init(_ reason: Reason, by context: String, sourceLocation: String? = nil) {
        self.reason = reason
        self.context = context
        self.sourceLocation = sourceLocation
    }

    public var description: String {
        let work = sourceLocation.map { "Work submitted at \($0)" } ?? "Work"
        return switch reason {
        case .full(let capacity):
            "\(work) was refused by '\(context)', where \(capacity) jobs are queued already (law 1). "
                + "Submit less, or choose another overflow policy."
        case .droppedForNewer:
            "\(work) was dropped by '\(context)' to make room for newer work (law 1)."
        case .invalidated:
            "\(work) did not run on '\(context)' because its token was invalidated (law 1)."
        case .shutDown:
            "\(work) was refused by '\(context)', which has been shut down (law 1). "
                + "Submit before the shutdown, or to a context that lives as long as its users."
        case .deadlinePassed:
            "\(work) was refused by '\(context)', since its deadline passed before it began (law 38)."
        case .abandoned:
            "\(work) was abandoned: '\(context)' discarded it without running it (law 1). "
                + "A context must run what execute gives it; a manual context discards what is pending when its test "
                + "finishes it or releases it."
        }
    }
}
