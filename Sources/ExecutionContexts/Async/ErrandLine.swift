/// Cells that have ended and are to tell it, in order; linked through themselves.
///
/// A cell that has ended waits for nobody any more, and lends the line the place of its source.
@safe struct ErrandLine: ~Copyable {
    private var first: Unmanaged<AsyncCell>?
    private var last: Unmanaged<AsyncCell>?

    mutating func append(_ cell: AsyncCell) {
        let cell = unsafe Unmanaged.passRetained(cell)
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.nextErrand = cell }
        } else {
            unsafe first = cell
        }
        unsafe last = cell
    }

    mutating func removeFirst() -> AsyncCell? {
        guard let cell = unsafe first else { return nil }
        unsafe first = cell._withUnsafeGuaranteedRef { unsafe $0.nextErrand.take() }
        if unsafe first == nil { unsafe last = nil }
        return unsafe cell.takeRetainedValue()
    }
}
