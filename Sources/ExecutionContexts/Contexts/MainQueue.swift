internal import Dispatch
internal import Foundation

/// Runs work on the main queue, which is where the main actor runs.
///
/// Main means the main *queue and actor*, not the main thread (law 4). In an app and under a run loop they
/// are the same. After `dispatchMain()`, and after the first suspension of an async `main`, the main queue
/// is served by other threads: `Thread.isMainThread` is false there, and `isCurrent` is still true.
public struct MainContext: SerialContext, SynchronousBarrierContext {
    /// Makes the context; all are alike.
    public init() {}

    /// Runs a closure of the main actor on the main queue.
    public func execute(_ work: @escaping @MainActor @Sendable () -> Void) {
        Seam.leaves(for: name)
        DispatchQueue.main.async { MainActor.assumeIsolated(work) }
    }

    /// Waits for `body` to run on the main queue; from the main queue it runs at once.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isCurrent == true { return try body() }
        return try withoutActuallyEscaping(body) { (body) throws(Failure) -> Value in
            // Unsafe in name only: the caller waits while the main queue runs it.
            nonisolated(unsafe) let body = body
            return try DispatchQueue.main.sync { unsafe Result(catching: body) }.get()
        }
    }

    /// Keeps the main queue to the caller. The main thread waits meanwhile: make it short.
    public func hold() -> ExclusiveHold {
        if Self.holding.isMine {
            Self.holding.again()
            return ExclusiveHold(releasing: { _ = Self.holding.end() })
        }
        if isCurrent == true { return .nothing }
        // The main queue cannot be suspended.
        let hold = ExclusiveHold.occupying(self)
        Self.holding.begin()
        return hold
    }

    /// Yes on the main queue and on the main thread, which has it, and for who holds it; otherwise not known.
    public var isCurrent: Bool? {
        if Self.holding.isMine { return true }
        // A key that is found is a yes. One that is missing may be hidden by a nested `sync` (law 4).
        if DispatchQueue.getSpecific(key: Self.mark) != nil { return true }
        // As long as the main queue belongs to the main thread, being there is holding it; once the queue
        // has been handed to the system, no code of ours runs on that thread any more.
        return Thread.isMainThread ? true : nil
    }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(.main))
        return true
    }

    public var name: String { "main" }

    /// There is one main queue, so there is one holder.
    private static let holding = Holding()

    private static let mark: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()
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
    public func execute(_ work: @escaping Work) {
        Seam.leaves(for: name)
        DispatchQueue.main.async(execute: work)
    }

    /// The main queue and actor.
    public static var main: MainContext { MainContext() }
}
