internal import CPlatform
internal import Synchronization

/// Who holds a context exclusively, and how often.
///
/// The holder is the current task, since an access that spans an `await` ends on another thread,
/// and the thread that it began on runs other jobs meanwhile. Outside of tasks it is the job of a
/// context of this library, since the thread runs others after it. Outside of both it is the
/// thread. A hold that outlives its holder is nobody's: a number is not used again, and a task that
/// holds is kept, so that no other task gets its address.
struct Holding: ~Copyable, Sendable {
    private let holder = Atomic<UInt>(0)
    /// How often it is held, below the number of the hold. The number tells a hold from a later one.
    private let depth = Atomic<UInt64>(0)
    private static var number: UInt64 { 1 << 24 }

    /// Whether the caller is the holder.
    @inline(__always)
    var isMine: Bool {
        // Relaxed: only the holder itself wrote what it compares equal to, and whatever else is seen is a no.
        let holder = holder.load(ordering: .relaxed)
        return holder != 0 && Holder(word: holder).isCaller
    }

    /// The caller holds now; nobody else does.
    func begin() {
        // Releasing: a thread that reads this number also sees that the holder before has gone.
        let before = depth.load(ordering: .relaxed)
        depth.store((before / Self.number + 1) * Self.number + 1, ordering: .releasing)
        // Relaxed, below: the caller has the context to itself, and others learn nothing from it.
        let caller = Holder.caller
        caller.keep()
        holder.store(caller.word, ordering: .relaxed)
    }

    /// Holds once more if the caller holds already; false for any other caller.
    ///
    /// Another thread may end the hold at the same time. A hold that has ended does not begin again.
    func holdAgain() -> Bool {
        // Acquiring, here and below: see `begin`.
        Seam.point()
        var now = depth.load(ordering: .acquiring)
        while now & (Self.number - 1) != 0, isMine {
            let (isDone, current) = depth.compareExchange(
                expected: now, desired: now + 1, ordering: .acquiring)
            if isDone { return true }
            now = current
        }
        return false
    }

    /// Ends one hold; true if it was the last, and the context is to go on.
    func end() -> Bool {
        guard let holder = withdraw() else { return false }
        holder.drop()
        return true
    }

    /// Ends one hold; the holder, to be dropped, if it was the last.
    func withdraw() -> Holder? {
        // Acquiring and releasing: holds of one holder may end on different threads, and the last one passes on
        // what was written in all.
        Seam.point()
        let left = depth.subtract(1, ordering: .acquiringAndReleasing).newValue
        guard left & (Self.number - 1) == 0 else { return nil }
        Seam.point()
        return Holder(word: holder.exchange(0, ordering: .acquiringAndReleasing))
    }
}

/// A task, a job or a thread, in one word: an address, or a number above two bits that say of what.
struct Holder {
    let word: UInt

    private enum Kind { static let task: UInt = 0, job: UInt = 1, thread: UInt = 3, mask: UInt = 3 }

    static var caller: Holder {
        if let task = unsafe Caller.task { return Holder(word: UInt(bitPattern: task)) }
        if let job = Frame.job { return Holder(word: UInt(job) << 2 | Kind.job) }
        let thread = unsafe Threads.current
        // The record is the caller's own, or that of a thread that waits for the caller. Zero says
        // that it has none.
        while unsafe thread.pointee.hold == 0 {
            unsafe thread.pointee.hold = UInt32(truncatingIfNeeded: Frame.newJob())
        }
        return unsafe Holder(word: UInt(thread.pointee.hold) << 2 | Kind.thread)
    }

    var isCaller: Bool {
        switch word & Kind.mask {
        case Kind.job: return Frame.runs(UInt64(word >> 2))
        case Kind.thread:
            return unsafe Caller.task == nil && UInt(Threads.current.pointee.hold) == word >> 2
        default: return unsafe Caller.task.map { UInt(bitPattern: $0) } == word
        }
    }

    func keep() { if let task = unsafe task { unsafe ec_task_retain(task) } }

    func drop() { if let task = unsafe task { unsafe ec_task_release(task) } }

    private var task: UnsafeMutableRawPointer? {
        word & Kind.mask == Kind.task ? unsafe UnsafeMutableRawPointer(bitPattern: word) : nil
    }
}
