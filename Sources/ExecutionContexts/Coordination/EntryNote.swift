internal import Synchronization

/// In debug builds, where in the code a section was entered.
@usableFromInline
struct EntryNote: ~Copyable, Sendable {
    #if DEBUG
    // Relaxed, all of it: the note is for people, who may see that of the entry before or after.
    private let file = Atomic<UInt>(0)
    private let line = Atomic<UInt>(0)
    #endif

    init() {}

    @inlinable @inline(__always)
    borrowing func write(_ fileID: StaticString, _ line: UInt) {
        #if DEBUG
        record(fileID, line)
        #endif
    }

    #if DEBUG
    @usableFromInline
    borrowing func record(_ fileID: StaticString, _ line: UInt) {
        guard fileID.hasPointerRepresentation else { return }
        file.store(unsafe UInt(bitPattern: fileID.utf8Start), ordering: .relaxed)
        self.line.store(line, ordering: .relaxed)
    }
    #endif

    /// Says who entered, or nil where nothing is known.
    borrowing func description(of thread: UInt32) -> String? {
        #if DEBUG
        guard thread != 0, let text = unsafe UnsafePointer<CChar>(bitPattern: file.load(ordering: .relaxed))
        else { return nil }
        return
            unsafe "thread \(thread), which entered at \(String(cString: text)):\(line.load(ordering: .relaxed))"
        #else
        return nil
        #endif
    }
}
