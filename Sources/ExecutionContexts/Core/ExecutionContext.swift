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
/// The other defaults are right for a context of which nothing more is known, and every decorator
/// of this library forwards them (law 8). `Docs/Guarantees.md` numbers what a caller may rely on.
/// The law kit in `ExecutionContextsTesting` checks a context against it.
public protocol ExecutionContext: Sendable {
    /// Runs `work` exactly once, now or later, and never refuses (law 1).
    ///
    /// The context releases the closure right after it ran, where it ran (law 10). `consuming` says
    /// that the context owns the closure from the call on; a context of your own may leave that
    /// out.
    // Disfavored, so that on the main actor the overload for its closures wins, also at the end of
    // a chain of views.
    @_disfavoredOverload
    func execute(_ work: consuming @escaping Work)

    /// Runs `work` like `execute`, but never on the caller before the call returns.
    ///
    /// Callers that must not be delayed submit by this method: the timer, whose thread serves the
    /// delays of all contexts (law 7), and a view that gives its thread back. The default is
    /// `execute`. A context whose `execute` runs work on the caller sends it to another thread
    /// here.
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
    /// Its type is `Bool?`. A property of type `Bool` is another one, and the library does not see
    /// it; if the conformance is in an extension, the compiler warns of it there.
    ///
    /// It is never yes by mistake (law 4). The default is nil. A context that answers no to the
    /// caller of a `sync`, on a view of it, runs the body on its own thread.
    var isCurrent: Bool? { get }

    /// Traps if the caller is elsewhere, and returns whether that could be checked at all.
    ///
    /// Implement it for a system facility that can check but not report, such as a dispatch queue.
    /// It is called only if `isCurrent` is nil. Call `preconditionIsCurrent()`, which uses both.
    /// The default returns false: nothing was checked.
    func checkIsCurrent() -> Bool

    /// Binds to a job what it needs of its submitter; nil if it needs nothing.
    ///
    /// It is for code that takes work now and submits it later, or submits one job on behalf of
    /// many: a view with its own queue, a delay. The default is nil. `propagating` binds task-local
    /// values by it.
    var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? { get }

    /// The time source of every delay, repetition and time limit of this context (law 7).
    ///
    /// The default is `SystemTime.shared`, or its replacement in a simulation. Every view of a
    /// context has the time source of that context, for example a virtual one.
    var time: any TimeSource { get }

    /// Whether any thread may run this context's work.
    ///
    /// A thread that waits for a job may then run it itself, so waiting cannot exhaust the threads
    /// (law 20). It is true of a pool and of a context that runs work on the caller. The default is
    /// false. A view that keeps an order or a limit must return false: a waiting thread would run
    /// its work outside that order or limit.
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
}

// MARK: - Where am I

extension ExecutionContext {
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
