internal import CPlatform

/// What one thread has put off, in order: the thread's word points to it until it has been done.
@usableFromInline
@safe struct Errands: ~Copyable {
    private var toTell = ErrandLine()
    private var toCancel: [AsyncCell] = []

    private typealias Pointer = UnsafeMutablePointer<Errands>

    static func append(toTell cell: AsyncCell) { unsafe mine.pointee.toTell.append(cell) }

    static func append(toCancel cell: AsyncCell) { unsafe mine.pointee.toCancel.append(cell) }

    /// Does what the calling thread has put off, until nothing new has come.
    @usableFromInline
    static func run() {
        // Looked up again each time: one that waits inside an errand runs all of them, and new ones may come after that.
        while let errands = unsafe current {
            if let cell = unsafe errands.pointee.toTell.removeFirst() {
                cell.tellAll(nil)
            } else if let cell = unsafe errands.pointee.toCancel.popLast() {
                _ = cell.cancel()
            } else {
                ec_set_errands(nil)
                unsafe errands.deinitialize(count: 1)
                unsafe errands.deallocate()
            }
        }
    }

    private static var current: Pointer? { unsafe ec_errands()?.assumingMemoryBound(to: Errands.self) }

    private static var mine: Pointer {
        if let errands = unsafe current { return unsafe errands }
        let errands = Pointer.allocate(capacity: 1)
        unsafe errands.initialize(to: Errands())
        unsafe ec_set_errands(errands)
        return unsafe errands
    }
}
