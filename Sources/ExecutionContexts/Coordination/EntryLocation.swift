internal import Synchronization

/// In debug builds, the source location where a section was entered.
@usableFromInline
struct EntryLocation: ~Copyable, Sendable {
    #if DEBUG
    // Relaxed, both: the record is for messages, which may show the entry before or after.
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

    /// Describes the thread and where it entered, or nil if that is not known.
    borrowing func description(of thread: UInt32) -> String? {
        #if DEBUG
        guard thread != 0,
            let text = unsafe UnsafePointer<CChar>(bitPattern: file.load(ordering: .relaxed))
        else { return nil }
        return
            unsafe "thread \(thread), which entered at \(String(cString: text)):\(line.load(ordering: .relaxed))"
        #else
        return nil
        #endif
    }
}
