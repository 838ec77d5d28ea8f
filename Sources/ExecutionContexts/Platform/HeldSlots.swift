internal import CPlatform
public import Synchronization

/// What a thread reads now: for others to see, and for itself to know.
///
/// Each thread owns a stack of words. A coordinator's address in one of them is that thread's claim to be
/// reading it, made without touching anything that another thread writes. With the lowest bit set, the word
/// says only to the thread itself that it reads there, because it has been counted in another way.
@usableFromInline
enum HeldSlots {
    @usableFromInline typealias Slot = UnsafeMutablePointer<Atomic<UInt>>

    /// The slots that a record has of its own: a line of memory.
    private static var inlineCount: UInt32 { 8 }
    /// The slots of a further block, the first of which leads to the next block.
    private static var blockCount: UInt32 { 64 }
    private static var line: Int { 64 }

    /// Memory for a record, and for its slots in the line behind it.
    static func allocateRecord() -> ThreadRecord {
        unsafe assert(MemoryLayout<ec_thread>.size <= line)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 2 * line, alignment: 2 * line)
        unsafe (memory + line).bindMemory(to: Atomic<UInt>.self, capacity: Int(inlineCount))
        for index in 0..<Int(inlineCount) {
            unsafe (memory + line).assumingMemoryBound(to: Atomic<UInt>.self)
                .advanced(by: index).initialize(to: Atomic(0))
        }
        return unsafe memory.bindMemory(to: ec_thread.self, capacity: 1)
    }

    /// The slot of a read that stands in no other: it is free while it is zero, and nothing else is counted.
    @inlinable @inline(__always)
    static func first(_ thread: ThreadRecord) -> Slot {
        let slots = unsafe UnsafeMutableRawPointer(thread) + 64
        return unsafe slots.assumingMemoryBound(to: Atomic<UInt>.self)
    }

    /// Another slot of the calling thread, which it gives back by `pop`, the last one first.
    static func push(_ thread: ThreadRecord) -> Slot {
        unsafe thread.pointee.held += 1
        return unsafe top(thread)
    }

    /// The slot that was pushed last.
    static func top(_ thread: ThreadRecord) -> Slot { unsafe slot(thread, thread.pointee.held) }

    static func pop(_ thread: ThreadRecord) { unsafe thread.pointee.held -= 1 }

    /// Whether the calling thread reads there, whichever way.
    static func holds(_ thread: ThreadRecord, _ claim: UInt) -> Bool {
        for index in unsafe 0...thread.pointee.held {
            // Relaxed: the thread's own words.
            let word = unsafe slot(thread, index).pointee.load(ordering: .relaxed)
            if word & ~1 == claim { return true }
        }
        return false
    }

    /// Whether any thread claims to read there; for who has passed `ec_barrier` since the claim could be made.
    static func anyoneClaims(_ claim: UInt) -> Bool {
        unsafe Threads.contains { thread in
            for index in 0..<inlineCount {
                // Sequentially consistent: what a reader did before it took back its claim has happened, and in the
                // portable mode this must not pass the caller's own write.
                if unsafe inlineSlot(thread, index).pointee.load(ordering: .sequentiallyConsistent) == claim {
                    return true
                }
            }
            var block = unsafe firstBlock(thread).pointee.load(ordering: .acquiring)
            while let slots = unsafe Slot(bitPattern: block) {
                for index in 1..<Int(blockCount) {
                    if unsafe slots[index].load(ordering: .sequentiallyConsistent) == claim { return true }
                }
                block = unsafe slots[0].load(ordering: .acquiring)
            }
            return false
        }
    }

    /// Frees what a thread that has ended has needed beyond the slots of its record; under the lock of the records.
    static func freeBlocks(of thread: ThreadRecord) {
        // Relaxed: those who look hold the lock as well.
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
            ? unsafe inlineSlot(thread, index) : unsafe spilled(thread, index - inlineCount)
    }

    /// A slot beyond those of the record, in a block that is made when it is needed first, and kept for the thread.
    private static func spilled(_ thread: ThreadRecord, _ index: UInt32) -> Slot {
        var link = unsafe firstBlock(thread)
        var index = index
        while true {
            var block = unsafe Slot(bitPattern: link.pointee.load(ordering: .acquiring))
            if unsafe block == nil {
                let fresh = Slot.allocate(capacity: Int(blockCount))
                for index in 0..<Int(blockCount) { unsafe (fresh + index).initialize(to: Atomic(0)) }
                // Only the thread itself adds a block; releasing, for those who look.
                unsafe link.pointee.store(UInt(bitPattern: fresh), ordering: .releasing)
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
        unsafe ec_thread_more(thread).assumingMemoryBound(to: Atomic<UInt>.self)
    }
}
