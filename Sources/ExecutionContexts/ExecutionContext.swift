/// A piece of work: a closure that any thread may run, once.
public typealias Work = @Sendable () -> Void

/// A place where work runs: it takes a closure and runs it, some time, somewhere.
///
/// Write the parameter of a function as `some ExecutionContext` and what a service stores as
/// `any ExecutionContext`, and let the caller choose the place:
///
/// ```swift
/// func load(_ url: URL, on context: some ExecutionContext, then use: @escaping @Sendable (Data) -> Void) {
///     context.execute { use(Data()) }
/// }
///
/// load(url, on: .main) { data in print(data.count) }
/// ```
///
/// `execute(_:)` is all that a context of your own has to say:
///
/// ```swift
/// struct ThreadPerJob: ExecutionContext {
///     func execute(_ work: @escaping Work) { Thread { work() }.start() }
/// }
/// ```
///
/// Everything else has a default that is right for a context of which nothing more is known, and every
/// decorator of this library forwards it (law 8). What a context may be relied on for is numbered in
/// `Docs/Guarantees.md`; the law kit in `ExecutionContextsTesting` checks a context against it.
public protocol ExecutionContext: Sendable {
    /// Runs `work` exactly once, some time, and never refuses (law 1).
    ///
    /// The closure is released right after it ran, on the context that ran it (law 10). It is the context's from the call on, which
    /// `consuming` says; a context of your own may leave that out.
    func execute(_ work: consuming @escaping Work)

    /// Runs `work` like `execute`, but never on the caller before the call returns.
    ///
    /// Whoever must not be held up submits by this: the timer, whose thread belongs to everybody's
    /// delays (law 7), and a view that gives its thread back. The default is `execute`; a context whose
    /// `execute` runs its work on the caller sends it to another thread here.
    func enqueue(_ work: consuming @escaping Work)

    /// Runs `work` once, or calls `refused` once with the reason: never both.
    ///
    /// Submissions that owe somebody an answer (`run`, `submit`) come by this. The default, of a context
    /// that never refuses, is `execute`. `refused` may be called before or after the call returns.
    func execute(_ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void)

    /// Whether the caller is running on this context: yes, no, or nil for not known.
    ///
    /// Never a false yes (law 4). The default is nil.
    var isCurrent: Bool? { get }

    /// Traps if the caller is elsewhere, and returns whether that could be checked at all.
    ///
    /// This is for contexts over a system facility that can check but not tell, such as a dispatch queue; it
    /// is asked only where `isCurrent` is nil. Call `preconditionIsCurrent()`, which asks both. The default is
    /// false: nothing was checked.
    func checkIsCurrent() -> Bool

    /// Binds to a piece of work what it needs of its submitter, or nil where that is nothing.
    ///
    /// For whoever takes work now and submits it later, or submits one piece for the sake of many: a view with a
    /// line of its own, a delay. The default is nil; `propagating` binds task-local values by it.
    var binding: (@Sendable (_ work: @escaping Work) -> Work)? { get }

    /// The clock and the alarm behind every delay, repeat and time limit of this context (law 7).
    ///
    /// The default is `SystemTime.shared`, or what stands for it in a simulation. A context that supplies its own, virtual for example, takes
    /// every view of itself with it.
    var time: any TimeSource { get }

    /// Whether it makes no difference to this context's work which thread runs it.
    ///
    /// A thread that waits for a piece may then run it itself, so that waiting cannot exhaust the threads
    /// (law 20). True of a pool and of a context that runs its work on the caller; the default is false. A view
    /// that keeps order or counts must say false: its work is not free to run beside it.
    var runsAnywhere: Bool { get }

    /// What people call this context, in messages and in tools.
    var name: String { get }
}

extension ExecutionContext {
    public func enqueue(_ work: consuming @escaping Work) { execute(consume work) }

    public func execute(
        _ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void
    ) { execute(consume work) }

    public var isCurrent: Bool? { nil }

    public func checkIsCurrent() -> Bool { false }

    public var binding: (@Sendable (_ work: @escaping Work) -> Work)? { nil }

    /// The work with what it needs of its submitter.
    @usableFromInline
    func bound(_ work: consuming @escaping Work) -> Work {
        // Not `map`: a closure that goes through a generic function comes back in a thunk, with its allocation.
        guard let binding else { return work }
        return binding(work)
    }

    public var time: any TimeSource { SystemTime.ofCaller }

    public var runsAnywhere: Bool { false }

    public var name: String { "\(Self.self)" }

    /// Runs `work` on this context: `context { ... }` is `context.execute { ... }`.
    public func callAsFunction(_ work: consuming @escaping Work) { execute(consume work) }
}

// MARK: - Where am I

extension ExecutionContext {
    /// Traps if the caller is not running on this context (law 4).
    ///
    /// It never fails falsely: where nothing can be known it passes.
    public func preconditionIsCurrent(
        _ message: @autoclosure () -> String = "", fileID: StaticString = #fileID,
        file: StaticString = #file, line: UInt = #line
    ) {
        switch isCurrent {
        case true?: return
        case nil: _ = checkIsCurrent()
        case false?:
            stopMisuse(
                "\(fileID):\(line) must run on the context '\(name)' but runs elsewhere (law 4). "
                    + "Submit it there with execute or run. \(message())", file: file, line: line)
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
