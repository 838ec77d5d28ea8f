internal import CPlatform

/// What one thread has put off: the thread's word points to it until it has been done.
///
/// First everybody is told, in order; then what nobody wants is cancelled; then comes the rest, in order: what an end
/// releases, the handlers of cancelled promises, and what is to be freed.
@usableFromInline
@safe struct Errands: ~Copyable {
    private var toTell = ErrandLine()
    private var toCancel: [AsyncCell] = []
    private var others: [Other] = []
    private var othersDone = 0

    private enum Other {
        case finish(AsyncCell)
        case call([Work])
        case free(Any)
    }

    private typealias Pointer = UnsafeMutablePointer<Errands>

    static func append(toTell cell: AsyncCell) { unsafe mine.pointee.toTell.append(cell) }

    static func append(toCancel cell: AsyncCell) { unsafe mine.pointee.toCancel.append(cell) }

    static func append(toFinish cell: AsyncCell) { unsafe mine.pointee.others.append(.finish(cell)) }

    static func append(toCall handlers: [Work]) { unsafe mine.pointee.others.append(.call(handlers)) }

    static func append(toFree thing: Any) { unsafe mine.pointee.others.append(.free(thing)) }

    /// Does what the calling thread has put off, until nothing new has come.
    @usableFromInline
    static func run() {
        // Looked up again each time: one that waits inside an errand runs all of them, and new ones may come after that.
        while let errands = unsafe current {
            if let cell = unsafe errands.pointee.toTell.removeFirst() {
                cell.tellAll(nil)
            } else if let cell = unsafe errands.pointee.toCancel.popLast() {
                _ = cell.cancel()
            } else if let other = unsafe errands.pointee.nextOther() {
                perform(other)
            } else {
                ec_set_errands(nil)
                unsafe errands.deinitialize(count: 1)
                unsafe errands.deallocate()
            }
        }
    }

    private static func perform(_ other: consuming Other) {
        switch consume other {
        case .finish(let cell): cell.didEnd()
        case .call(let handlers): for handler in handlers { handler() }
        case .free: break
        }
    }

    private mutating func nextOther() -> Other? {
        guard othersDone < others.count else { return nil }
        // Moved out, so that nothing is freed in here, and nothing later than when its turn ends.
        var next = Other.call([])
        swap(&next, &others[othersDone])
        othersDone += 1
        if othersDone == others.count {
            others.removeAll(keepingCapacity: othersDone <= 64)
            othersDone = 0
        }
        return next
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
