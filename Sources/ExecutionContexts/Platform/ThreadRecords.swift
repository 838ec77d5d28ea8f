internal import CPlatform
public import Synchronization

/// The records of all threads: those of living threads, and those that no thread uses.
@safe struct ThreadRecords: ~Copyable {
    /// Those of living threads, without gaps: a search costs nothing for threads that have ended.
    private(set) var living: [ThreadRecord] = unsafe []
    private var firstFree: ThreadRecord?
    private var made: UInt32 = 0

    mutating func take() -> ThreadRecord {
        let thread: ThreadRecord
        if let free = unsafe firstFree {
            unsafe firstFree = free.pointee.next_free
            unsafe free.pointee.next_free = nil
            unsafe thread = free
        } else {
            unsafe thread = ThreadSlots.allocateRecord()
            unsafe thread.initialize(to: ec_thread())
            made += 1
            unsafe thread.pointee.identifier = made
        }
        unsafe thread.pointee.index = UInt64(living.count)
        unsafe living.append(thread)
        return unsafe thread
    }

    mutating func giveBack(_ thread: ThreadRecord) {
        unsafe leaveOut(thread)
        unsafe ThreadSlots.freeBlocks(of: thread)
        unsafe thread.pointee.next_free = firstFree
        unsafe firstFree = thread
    }

    /// Removes a record from those of living threads; no other thread gets it.
    mutating func leaveOut(_ thread: ThreadRecord) {
        // The last record fills the gap.
        let last = unsafe living.removeLast()
        if unsafe last != thread {
            let index = unsafe thread.pointee.index
            unsafe living[Int(index)] = last
            unsafe last.pointee.index = index
        }
    }
}

extension Threads {
    /// Calls `body` on the record of every living thread until it returns true, and returns whether
    /// it did.
    ///
    /// Runs under the lock of the records. If the caller does not find a thread's record because
    /// the thread has ended, what the thread did has happened. If the thread has no record yet,
    /// what it does happens after the caller's earlier changes.
    static func contains(where body: (ThreadRecord) -> Bool) -> Bool {
        records.withUnscheduledLock { unsafe $0.living.contains(where: body) }
    }
}

/// Words of a thread that other threads may search.
///
/// Each thread owns a stack of words, its slots. The address of an object in a slot announces that
/// the thread uses the object. An announcement touches nothing that another thread writes. With the
/// lowest bit set, a word informs only the thread itself, and a search does not find it.
@usableFromInline
enum ThreadSlots {
    @usableFromInline typealias Slot = UnsafeMutablePointer<Atomic<UInt>>

    /// The slots of a record itself: a cache line.
    private static var inlineCount: UInt32 { 8 }
    /// The slots of a further block, the first of which leads to the next block.
    private static var blockCount: UInt32 { 64 }
    private static var cacheLine: Int { 64 }

    /// Allocates a record, and its slots in the cache line behind it.
    static func allocateRecord() -> ThreadRecord {
        unsafe assert(MemoryLayout<ec_thread>.size <= cacheLine)
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: 2 * cacheLine, alignment: 2 * cacheLine)
        let slots = unsafe (memory + cacheLine).bindMemory(
            to: Atomic<UInt>.self, capacity: Int(inlineCount))
        for index in 0..<Int(inlineCount) { unsafe (slots + index).initialize(to: Atomic(0)) }
        return unsafe memory.bindMemory(to: ec_thread.self, capacity: 1)
    }

    /// The slot of an outermost use: it is free while it is zero, and nothing else is counted.
    @inlinable @inline(__always)
    static func first(_ thread: ThreadRecord) -> Slot {
        let slots = unsafe UnsafeMutableRawPointer(thread) + 64
        return unsafe slots.assumingMemoryBound(to: Atomic<UInt>.self)
    }

    /// Pushes a slot of the calling thread, which `pop` gives back, the last one first.
    static func push(_ thread: ThreadRecord) -> Slot {
        unsafe thread.pointee.pushed_slots += 1
        return unsafe top(thread)
    }

    /// The slot that was pushed last.
    static func top(_ thread: ThreadRecord) -> Slot {
        unsafe slot(thread, thread.pointee.pushed_slots)
    }

    static func pop(_ thread: ThreadRecord) { unsafe thread.pointee.pushed_slots -= 1 }

    /// Whether a slot of the thread has this address, with or without the lowest bit.
    static func holds(_ thread: ThreadRecord, _ address: UInt) -> Bool {
        for index in unsafe 0...thread.pointee.pushed_slots {
            // Relaxed: the thread's own words.
            let word = unsafe slot(thread, index).pointee.load(ordering: .relaxed)
            if word & ~1 == address { return true }
        }
        return false
    }

    /// Whether any thread announces that it uses the object with this address.
    ///
    /// The caller has passed `ec_barrier` since an announcement was last possible.
    static func isAnnounced(_ word: UInt) -> Bool {
        unsafe Threads.contains { thread in
            for index in 0..<inlineCount {
                // Sequentially consistent: what a thread did before it withdrew its announcement
                // has happened, and in portable mode the load must not pass the caller's own write.
                if unsafe inlineSlot(thread, index).pointee.load(ordering: .sequentiallyConsistent)
                    == word
                {
                    return true
                }
            }
            // Sequentially consistent as well, or these loads would miss a block that has an
            // announcement.
            var block = unsafe firstBlock(thread).pointee.load(ordering: .sequentiallyConsistent)
            while let slots = unsafe Slot(bitPattern: block) {
                for index in 1..<Int(blockCount) {
                    if unsafe slots[index].load(ordering: .sequentiallyConsistent) == word {
                        return true
                    }
                }
                block = unsafe slots[0].load(ordering: .sequentiallyConsistent)
            }
            return false
        }
    }

    /// Frees the slot blocks of a thread that has ended; called under the lock of the records.
    static func freeBlocks(of thread: ThreadRecord) {
        // Relaxed: a thread that searches holds the lock as well.
        var block = unsafe firstBlock(thread).pointee.exchange(0, ordering: .relaxed)
        while let slots = unsafe Slot(bitPattern: block) {
            block = unsafe slots[0].load(ordering: .relaxed)
            unsafe slots.deallocate()
        }
    }

    private static func inlineSlot(_ thread: ThreadRecord, _ index: UInt32) -> Slot {
        unsafe first(thread) + Int(index)
    }

    private static func slot(_ thread: ThreadRecord, _ index: UInt32) -> Slot {
        index < inlineCount
            ? unsafe inlineSlot(thread, index) : unsafe blockSlot(thread, index - inlineCount)
    }

    /// A slot beyond those of the record, in a block that is allocated at its first use and kept
    /// for the thread.
    private static func blockSlot(_ thread: ThreadRecord, _ index: UInt32) -> Slot {
        var link = unsafe firstBlock(thread)
        var index = index
        while true {
            // Relaxed: the thread's own word.
            var block = unsafe Slot(bitPattern: link.pointee.load(ordering: .relaxed))
            if unsafe block == nil {
                let fresh = Slot.allocate(capacity: Int(blockCount))
                for index in 0..<Int(blockCount) {
                    unsafe (fresh + index).initialize(to: Atomic(0))
                }
                // Only the thread itself adds a block. Releasing, for threads that search, and
                // sequentially consistent: a search that comes after an announcement in the block
                // must find the block.
                unsafe link.pointee.store(
                    UInt(bitPattern: fresh), ordering: .sequentiallyConsistent)
                unsafe block = fresh
            }
            let slots = unsafe block.unsafelyUnwrapped
            if index < blockCount - 1 { return unsafe slots + Int(index) + 1 }
            index -= blockCount - 1
            unsafe link = slots
        }
    }

    /// The record's word that leads to its first block.
    private static func firstBlock(_ thread: ThreadRecord) -> Slot {
        unsafe ec_thread_slot_blocks(thread).assumingMemoryBound(to: Atomic<UInt>.self)
    }
}
