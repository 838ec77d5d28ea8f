internal import CPlatform
internal import Synchronization

/// The exclusive owner of an object, and how often it holds the object.
///
/// | caller                                             | owner      |
/// |----------------------------------------------------|------------|
/// | in a task                                          | the task   |
/// | in a job that this library runs, and not in a task | the job    |
/// | elsewhere                                          | the thread |
///
/// A task is the owner because an access that spans an `await` ends on another thread, and the
/// thread that it began on runs other jobs meanwhile. A job is the owner because its thread runs
/// other jobs after it. A hold that outlives its owner belongs to no caller: a number is not used
/// again, and a task that owns an object is retained, so that no other task gets its address.
struct ExclusiveOwner: ~Copyable, Sendable {
    private let holder = Atomic<UInt>(0)
    /// The nesting depth, below a number that distinguishes the hold from a later one.
    private let depth = Atomic<UInt64>(0)
    private static var number: UInt64 { 1 << 24 }

    /// Whether the caller is the owner.
    @inline(__always)
    var isMine: Bool {
        // Relaxed: only the owner itself wrote what compares equal, and any other value is a no.
        let holder = holder.load(ordering: .relaxed)
        return holder != 0 && Holder(word: holder).isCaller
    }

    /// Makes the caller the owner of an object that has none.
    func begin() {
        // Releasing: a thread that reads this number also sees that the last owner has gone.
        let before = depth.load(ordering: .relaxed)
        depth.store((before / Self.number + 1) * Self.number + 1, ordering: .releasing)
        // Relaxed, below: the caller has the object to itself, and other threads learn nothing
        // from the word.
        let caller = Holder.caller
        caller.retain()
        holder.store(caller.word, ordering: .relaxed)
    }

    /// Holds the object once more if the caller is the owner; false for any other caller.
    ///
    /// Another thread may end the hold meanwhile. A hold that has ended does not begin again.
    func holdAgain() -> Bool {
        // Acquiring, here and below: see `begin`.
        SimulationHooks.point()
        var now = depth.load(ordering: .acquiring)
        while now & (Self.number - 1) != 0, isMine {
            let (isDone, current) = depth.compareExchange(
                expected: now, desired: now + 1, ordering: .acquiring)
            if isDone { return true }
            now = current
        }
        return false
    }

    /// Ends one hold; true if it was the last, so that other callers may enter.
    func end() -> Bool {
        guard let holder = withdraw() else { return false }
        holder.release()
        return true
    }

    /// Ends one hold; returns the owner, which the caller must release, if it was the last.
    func withdraw() -> Holder? {
        // Acquiring and releasing: holds of one owner may end on different threads, and the last
        // one publishes what all of them wrote.
        SimulationHooks.point()
        let left = depth.subtract(1, ordering: .acquiringAndReleasing).newValue
        guard left & (Self.number - 1) == 0 else { return nil }
        SimulationHooks.point()
        // Relaxed: the object is released to the next owner, and the number of its hold, after it.
        return Holder(word: holder.exchange(0, ordering: .relaxed))
    }
}

/// A task, a job or a thread, in one word: an address, or a number above two bits for the kind.
struct Holder {
    let word: UInt

    private enum Kind { static let task: UInt = 0, job: UInt = 1, thread: UInt = 3, mask: UInt = 3 }

    static var caller: Holder {
        if let task = unsafe Caller.task { return Holder(word: UInt(bitPattern: task)) }
        if let job = Frame.job { return Holder(word: UInt(job) << 2 | Kind.job) }
        let thread = unsafe Threads.current
        // The record is the caller's own, or that of a thread that waits for the caller.
        while unsafe thread.pointee.owner_number == 0 {
            unsafe thread.pointee.owner_number = UInt32(truncatingIfNeeded: Frame.newJob())
        }
        return unsafe Holder(word: UInt(thread.pointee.owner_number) << 2 | Kind.thread)
    }

    var isCaller: Bool {
        switch word & Kind.mask {
        case Kind.job: return Frame.runs(UInt64(word >> 2))
        case Kind.thread:
            return unsafe Caller.task == nil
                && UInt(Threads.current.pointee.owner_number) == word >> 2
        default: return unsafe Caller.task.map { UInt(bitPattern: $0) } == word
        }
    }

    func retain() { if let task = unsafe task { unsafe ec_retain(task) } }

    func release() { if let task = unsafe task { unsafe ec_release(task) } }

    private var task: UnsafeMutableRawPointer? {
        word & Kind.mask == Kind.task ? unsafe UnsafeMutableRawPointer(bitPattern: word) : nil
    }
}
