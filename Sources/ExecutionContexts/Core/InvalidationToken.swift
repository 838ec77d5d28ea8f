internal import Synchronization

/// Says whether the jobs that depend on it are still wanted; once invalidated, it stays invalid.
///
/// A screen that goes away invalidates its token, and the jobs that were to run for it do not run:
///
/// ```swift
/// let context = MainContext().valid(while: token)
/// ```
public final class InvalidationToken: Sendable {
    private let invalidated = Atomic<Bool>(false)
    /// The watchers to notify when the token is invalidated; nil from then on.
    private let watchers = Guarded<[ObjectIdentifier: any TokenWatcher]?>([:])

    /// Makes a valid token.
    public init() {}

    /// Whether dependent jobs are still wanted.
    public var isValid: Bool {
        SimulationHooks.point()
        return !invalidated.load(ordering: .acquiring)
    }

    /// Invalidates the token: no dependent job starts any more, and the callbacks that wait for an
    /// `Async` with this token are released.
    ///
    /// If the caller is on the context that runs the jobs, a serial one, none of them starts after
    /// the call.
    public func invalidate() {
        SimulationHooks.point()
        invalidated.store(true, ordering: .releasing)
        guard let watchers = watchers.withLock({ $0.take() }) else { return }
        for watcher in watchers.values { watcher.tokenWasInvalidated() }
    }

    /// Registers `watcher` and returns true, or returns false if the token is invalid already.
    ///
    /// The token retains the watcher until it has notified it, or until the watcher is removed.
    func add(_ watcher: some TokenWatcher) -> Bool {
        watchers.withLock { watchers in
            watchers?[ObjectIdentifier(watcher)] = watcher
            return watchers != nil
        }
    }

    func remove(_ watcher: some TokenWatcher) {
        // The watcher is released outside of the lock (law 9).
        _ = watchers.withLock { $0?.removeValue(forKey: ObjectIdentifier(watcher)) }
    }
}

/// What is notified when a token is invalidated, and then releases what it keeps.
protocol TokenWatcher: AnyObject, Sendable {
    func tokenWasInvalidated()
}
