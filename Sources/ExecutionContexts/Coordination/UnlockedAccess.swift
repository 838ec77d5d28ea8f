/// No lock: two threads that access the resource at the same time are a programming error, which
/// traps.
///
/// Use it for a resource that only one thread or one serial context uses. No caller ever waits, and
/// a data race traps with a message. Enqueued writes run at once, or when the access under way
/// ends.
public struct UnlockedAccess: ResourceLock {
    /// Never waited for.
    private let section = CriticalSection(name: "unlocked resource")
    private let later = PendingWrites()

    public func read(_ body: () -> Void) { access(body) }

    public func write(_ body: () -> Void) { access(body) }

    public func enqueueWrite(_ work: @escaping Work) {
        later.add(work)
        if section.isCurrent == false { access {} }
    }

    private func access(_ body: () -> Void) {
        // The outermost access of this thread runs what was enqueued, and not one inside it.
        if section.isCurrent == true { return body() }
        let isAlone: Void? = section.execute(timeout: .zero) {
            body()
            while let work = later.next() { work() }
        }
        require(
            isAlone != nil,
            "An unlocked resource is used by two threads at the same time (law 30). Make it with a lock, "
                + "as 'lockedBy: .section', or use it from one serial context.")
    }
}

extension ResourceLock where Self == UnlockedAccess {
    /// No lock: two threads at the same time trap, and no caller ever waits.
    public static var unlocked: UnlockedAccess { UnlockedAccess() }
}
