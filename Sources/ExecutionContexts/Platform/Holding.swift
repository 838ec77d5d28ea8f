internal import Synchronization

/// Who holds a context exclusively, and how often.
///
/// The holder is the current task or, outside of tasks, the thread: an access that spans an `await` ends on another
/// thread, and the thread that it began on does somebody else's work meanwhile.
struct Holding: ~Copyable, Sendable {
    private let holder = Atomic<UInt>(0)
    private let depth = Atomic<Int>(0)

    /// Whether the caller is the holder.
    @inline(__always)
    var isMine: Bool {
        // Relaxed: only the holder itself wrote what it compares equal to, and whatever else is seen is a no.
        let holder = holder.load(ordering: .relaxed)
        return holder != 0 && holder == Self.caller
    }

    /// The caller holds now; nobody else does.
    func begin() {
        // Relaxed: the caller has the context to itself, and others learn nothing from these two.
        depth.store(1, ordering: .relaxed)
        holder.store(Self.caller, ordering: .relaxed)
    }

    /// The holder holds once more.
    func again() {
        // Relaxed: the holder counts; its own order is enough.
        depth.add(1, ordering: .relaxed)
    }

    /// Ends one hold; true if it was the last, and the context is to go on.
    func end() -> Bool {
        // Acquiring and releasing: holds of one holder may end on different threads, and the last one passes on
        // what was written in all.
        guard depth.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return false }
        _ = holder.exchange(0, ordering: .acquiringAndReleasing)
        return true
    }

    /// The address of the current task, or of this thread's record.
    private static var caller: UInt {
        unsafe withUnsafeCurrentTask { task in
            guard let task = unsafe task else { return unsafe UInt(bitPattern: Threads.current) }
            // A task reference is one word, an address; it is compared here and never followed.
            return unsafe unsafeBitCast(task, to: UInt.self)
        }
    }
}
