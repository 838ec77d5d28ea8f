internal import Synchronization

/// Says whether work that depends on it is still wanted; once invalidated it stays so.
///
/// A screen that goes away invalidates its token, and what was to run for it does not:
///
/// ```swift
/// let context = MainContext().while(token)
/// ```
public final class InvalidationToken: Sendable {
    private let invalidated = Atomic<Bool>(false)
    /// Who gives something up when it is invalidated; nil from then on.
    private let watchers = Guarded<[ObjectIdentifier: any TokenWatcher]?>([:])

    /// Makes a token that is valid.
    public init() {}

    /// Whether work is still wanted.
    public var isValid: Bool {
        Seam.point()
        return !invalidated.load(ordering: .acquiring)
    }

    /// Ends it: no work that has not started will start, and callbacks that wait for an `Async` are let go of.
    ///
    /// Called on the context that runs the work (a serial one), nothing of it starts after the call.
    public func invalidate() {
        Seam.point()
        invalidated.store(true, ordering: .releasing)
        let watchers = watchers.withLock { $0.take() }
        for watcher in watchers?.values ?? [:].values { watcher.tokenWasInvalidated() }
    }

    /// Has `watcher` told, and keeps it until then or until it is removed; false if the token is invalid already.
    func add(_ watcher: some TokenWatcher) -> Bool {
        watchers.withLock { watchers in
            watchers?[ObjectIdentifier(watcher)] = watcher
            return watchers != nil
        }
    }

    func remove(_ watcher: some TokenWatcher) {
        // Outside the lock it is let go of.
        _ = watchers.withLock { watchers in watchers?.removeValue(forKey: ObjectIdentifier(watcher)) }
    }
}

/// Somebody who gives something up when a token is invalidated.
protocol TokenWatcher: AnyObject, Sendable {
    func tokenWasInvalidated()
}
