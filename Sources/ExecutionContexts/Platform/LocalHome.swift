internal import CPlatform

/// What a thread-local without a key has for all threads: its number, its serial, the list of its values.
///
/// It lives until the thread-local and the last of the values are gone.
@safe final class LocalHome: Sendable {
    /// Where each thread's table has its value; used again once the thread-local is gone.
    let index: UInt32
    /// Never used again.
    let serial: UInt64

    private let size: Int
    private let alignment: Int
    /// From the start of the memory to the value.
    private let offset: Int
    private let deinitialize: @Sendable (UnsafeMutableRawPointer) -> Void
    private let cells = Guarded<Cells>(Cells())

    @safe private struct Cells {
        var first: LocalCell.Pointer?
        var isClosed = false
    }

    init<Value>(of type: Value.Type) {
        (index, serial) = LocalNumbers.take()
        alignment = max(MemoryLayout<Value>.alignment, MemoryLayout<LocalCell>.alignment)
        // The cell ends where the value begins.
        offset = (MemoryLayout<LocalCell>.size + alignment - 1) / alignment * alignment
        size = offset + MemoryLayout<Value>.size
        unsafe deinitialize = { unsafe $0.assumingMemoryBound(to: Value.self).deinitialize(count: 1) }
    }

    /// Room for a value of the thread, for the caller to fill.
    func makeCell(for thread: ThreadRecord) -> UnsafeMutableRawPointer {
        let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: alignment)
        let value = unsafe block + offset
        let cell = unsafe LocalCell.before(value)
        unsafe cell.initialize(to: LocalCell(home: .passRetained(self), thread: thread))
        cells.withLock { cells in
            unsafe cell.pointee.next = cells.first
            unsafe cells.first?.pointee.previous = cell
            unsafe cells.first = cell
        }
        return unsafe value
    }

    /// Takes a value from the list; false if it has been taken by `close`, which hands it to its thread.
    func unlink(_ cell: LocalCell.Pointer) -> Bool {
        cells.withLock { cells in
            if cells.isClosed { return false }
            if let previous = unsafe cell.pointee.previous {
                unsafe previous.pointee.next = cell.pointee.next
            } else {
                unsafe cells.first = cell.pointee.next
            }
            unsafe cell.pointee.next?.pointee.previous = cell.pointee.previous
            return true
        }
    }

    /// The thread-local is gone: hands each thread its value, to free, and frees the caller's.
    func close() {
        cells.withLock { cells in
            cells.isClosed = true
            var next = unsafe cells.first
            while let cell = unsafe next {
                unsafe next = cell.pointee.next
                // Under the lock, so that a thread that ends and finds the list closed finds the value.
                unsafe LocalTable.orphan(cell)
            }
        }
        // Only now: who uses the index again must find that the threads have been told.
        LocalNumbers.giveBack(index)
        if let thread = unsafe ec_thread_current() { unsafe LocalTable.settle(thread) }
    }

    /// Frees a cell with the value in it.
    fileprivate func free(_ cell: LocalCell.Pointer) {
        let value = unsafe LocalCell.value(of: cell)
        unsafe deinitialize(value)
        unsafe (value - offset).deallocate()
    }
}

/// What stands before a value in memory: whose it is, and its place in the list of all of its kind.
@safe struct LocalCell {
    typealias Pointer = UnsafeMutablePointer<LocalCell>

    /// Retained.
    let home: Unmanaged<LocalHome>
    let thread: ThreadRecord
    // Reached under the lock of `home` while it is open; then `next` leads to the thread's next orphan.
    var next: Pointer?
    var previous: Pointer?

    static func before(_ value: UnsafeMutableRawPointer) -> Pointer {
        unsafe (value - MemoryLayout<LocalCell>.size).assumingMemoryBound(to: LocalCell.self)
    }

    static func value(of cell: Pointer) -> UnsafeMutableRawPointer {
        unsafe UnsafeMutableRawPointer(cell) + MemoryLayout<LocalCell>.size
    }

    /// Frees a cell that is in no list and in no table, and runs the deinit of its value.
    static func free(_ cell: Pointer) {
        let home = unsafe cell.pointee.home.takeRetainedValue()
        unsafe home.free(cell)
    }
}

/// The numbers of thread-locals without a key.
private enum LocalNumbers {
    private struct State {
        var free: [UInt32] = []
        var next: UInt32 = 0
        var serial: UInt64 = 0
    }

    private static let state = Guarded(State())

    // Without a scheduling point: which number it is orders nothing, and a static thread-local takes one in
    // the first schedule only.
    static func take() -> (index: UInt32, serial: UInt64) {
        Seam.making {
            state.withLock { state in
                state.serial += 1
                if let index = state.free.popLast() { return (index, state.serial) }
                state.next += 1
                return (state.next - 1, state.serial)
            }
        }
    }

    static func giveBack(_ index: UInt32) {
        state.withLock { $0.free.append(index) }
    }
}
