/// No lock: accesses of two threads at the same time are a mistake, which stops the program.
///
/// For a resource that one thread or one serial context uses anyway. Nobody ever waits; what would have been a data
/// race is a sentence. Enqueued writes run at once, or when the access under way ends.
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
        // The last access of this thread that is under way, and not one inside it, runs what was enqueued.
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
    /// No lock: two threads at the same time stop the program, and nobody ever waits.
    public static var unlocked: UnlockedAccess { UnlockedAccess() }
}
