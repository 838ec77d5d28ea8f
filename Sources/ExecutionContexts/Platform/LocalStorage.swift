internal import CPlatform

/// What all threads share of a thread-local without a key: its index, its serial, the list of its
/// values.
///
/// It lives until the thread-local and the last of the values are gone.
@safe final class LocalStorage: Sendable {
    /// The index of the value in each thread's table; used again once the thread-local is gone.
    let index: UInt32
    /// Never used again.
    let serial: UInt64

    private let size: Int
    private let alignment: Int
    /// The offset of the value from the start of its block.
    private let offset: Int
    private let deinitialize: @Sendable (UnsafeMutableRawPointer) -> Void
    private let nodes = Guarded<Nodes>(Nodes())

    @safe private struct Nodes {
        var first: LocalNode.Pointer?
        var isClosed = false
    }

    init<Value>(of type: Value.Type) {
        (index, serial) = LocalIndices.take()
        alignment = max(MemoryLayout<Value>.alignment, MemoryLayout<LocalNode>.alignment)
        // The node ends where the value begins.
        offset = (MemoryLayout<LocalNode>.size + alignment - 1) / alignment * alignment
        size = offset + MemoryLayout<Value>.size
        unsafe deinitialize = {
            unsafe $0.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
        }
    }

    /// Uninitialized memory for a value of the thread.
    func makeNode(for thread: ThreadRecord) -> UnsafeMutableRawPointer {
        let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: alignment)
        let value = unsafe block + offset
        let node = unsafe LocalNode.before(value)
        unsafe node.initialize(to: LocalNode(storage: .passRetained(self), thread: thread))
        nodes.withLock { nodes in
            unsafe node.pointee.next = nodes.first
            unsafe nodes.first?.pointee.previous = node
            unsafe nodes.first = node
        }
        return unsafe value
    }

    /// Removes a value from the list; false if `close` has taken it, which hands it to its thread.
    func unlink(_ node: LocalNode.Pointer) -> Bool {
        nodes.withLock { nodes in
            if nodes.isClosed { return false }
            if let previous = unsafe node.pointee.previous {
                unsafe previous.pointee.next = node.pointee.next
            } else {
                unsafe nodes.first = node.pointee.next
            }
            unsafe node.pointee.next?.pointee.previous = node.pointee.previous
            return true
        }
    }

    /// Hands each thread its value, to free, and frees the caller's; for a thread-local that is
    /// gone.
    func close() {
        nodes.withLock { nodes in
            nodes.isClosed = true
            var next = unsafe nodes.first
            while let node = unsafe next {
                unsafe next = node.pointee.next
                // Under the lock, so that a thread that ends and finds the list closed also finds
                // the value.
                unsafe LocalTable.detach(node)
            }
        }
        // Only now: before the index is used again, every thread must have been handed its value.
        LocalIndices.giveBack(index)
        if let thread = unsafe ec_thread_current() { unsafe LocalTable.collect(thread) }
    }

    /// Frees a node and the value behind it.
    fileprivate func free(_ node: LocalNode.Pointer) {
        let value = unsafe LocalNode.value(of: node)
        unsafe deinitialize(value)
        unsafe (value - offset).deallocate()
    }
}

/// The header in front of a value: its thread-local, its thread, and its neighbours in the list of
/// values.
@safe struct LocalNode {
    typealias Pointer = UnsafeMutablePointer<LocalNode>

    /// The thread-local's storage, retained.
    let storage: Unmanaged<LocalStorage>
    let thread: ThreadRecord
    // Accessed under the lock of `storage` while it is open; then `next` leads to the thread's next
    // detached node.
    var next: Pointer?
    var previous: Pointer?

    static func before(_ value: UnsafeMutableRawPointer) -> Pointer {
        unsafe (value - MemoryLayout<LocalNode>.size).assumingMemoryBound(to: LocalNode.self)
    }

    static func value(of node: Pointer) -> UnsafeMutableRawPointer {
        unsafe UnsafeMutableRawPointer(node) + MemoryLayout<LocalNode>.size
    }

    /// Frees a node that is in no list and in no table, and runs the deinit of its value.
    static func free(_ node: Pointer) {
        let storage = unsafe node.pointee.storage.takeRetainedValue()
        unsafe storage.free(node)
    }
}

/// The indices of thread-locals without a key.
private enum LocalIndices {
    private struct State {
        var free: [UInt32] = []
        var next: UInt32 = 0
        var serial: UInt64 = 0
    }

    private static let state = Guarded(State())

    // Without a scheduling point: which index it is orders nothing, and a static thread-local takes
    // one in the first schedule only.
    static func take() -> (index: UInt32, serial: UInt64) {
        SimulationHooks.making {
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
