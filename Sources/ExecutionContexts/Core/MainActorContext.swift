/// A context whose jobs run on the main actor: what code that belongs to a screen is injected with.
///
/// Its methods take closures of the main actor, and so do those of its views and of futures that
/// call back on it. ``MainContext`` is one; a test injects another, which it drives by hand:
///
/// ```swift
/// @MainActor final class BirdList {
///     private(set) var birds: [String] = []
///     private let ui: any MainActorContext
///     init(on ui: any MainActorContext = MainContext()) { self.ui = ui }
///     func load(_ names: Async<[String]>) { names.onSuccess(on: ui) { self.birds = $0 } }
/// }
/// ```
///
/// A context of your own that conforms must run every job on the main actor. A closure of the main
/// actor that it runs elsewhere traps (law 4). Mark its `execute` with `@_disfavoredOverload`, so
/// that on its own type the method for closures of the main actor wins.
public protocol MainActorContext: SerialContext {
    // Disfavored, so that the compiler infers the main actor for a caller's closure.
    @_disfavoredOverload
    func execute(_ work: consuming @escaping Work)
}

extension MainActorContext {
    /// Runs a closure of the main actor on this context.
    public func execute(_ work: consuming @escaping @MainActor @Sendable () -> Void) {
        general.execute(Self.plain(consume work))
    }

    /// Runs a closure of the main actor on this context: `ui { ... }` is `ui.execute { ... }`.
    public func callAsFunction(_ work: consuming @escaping @MainActor @Sendable () -> Void) {
        general.execute(Self.plain(consume work))
    }

    /// Runs a closure of the main actor on this context, after a delay (law 7).
    @discardableResult
    public func schedule(
        after delay: Duration, tolerance: Duration = .zero, fileID: StaticString = #fileID,
        line: UInt = #line, _ work: @escaping @MainActor @Sendable () -> Void
    ) -> DelayedWork {
        general.schedule(
            after: delay, tolerance: tolerance, fileID: fileID, line: line, Self.plain(work))
    }

    /// Runs a closure of the main actor on this context at a time of it (law 7).
    @discardableResult
    public func schedule(
        at deadline: ContextInstant, tolerance: Duration = .zero, fileID: StaticString = #fileID,
        line: UInt = #line, _ work: @escaping @MainActor @Sendable () -> Void
    ) -> DelayedWork {
        general.schedule(
            at: deadline, tolerance: tolerance, fileID: fileID, line: line, Self.plain(work))
    }

    /// Runs a closure of the main actor on this context repeatedly, until it is cancelled.
    @discardableResult
    public func schedule(
        every period: Duration, policy: DriftPolicy = .skip, tolerance: Duration = .zero,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ work: @escaping @MainActor @Sendable () -> Void
    ) -> Repetition {
        general.schedule(
            every: period, policy: policy, tolerance: tolerance, fileID: fileID, line: line,
            Self.plain(work))
    }

    /// This context without its overloads for closures of the main actor.
    package var general: some SerialContext { self }

    /// A closure of the main actor as a job of a context that runs it there.
    static func plain(_ work: @escaping @MainActor @Sendable () -> Void) -> Work {
        // Not the code of this closure, which is the library's.
        JobSource.carry(JobSource(CodePlace(ofMainActor: work)), { MainActor.assumeIsolated(work) })
    }
}

extension MainActorContext where Self: SynchronousContext {
    /// Waits for a closure of the main actor to run on this context, and returns its value.
    public func sync<Value: Sendable, Failure: Error>(
        _ body: @MainActor () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let general: some SynchronousContext = self
        return try general.sync { () throws(Failure) -> Value in
            try MainActor.assumeIsolated { Result { () throws(Failure) in try body() } }.get()
        }
    }
}
