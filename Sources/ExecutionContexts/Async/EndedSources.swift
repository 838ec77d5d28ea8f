/// Completed future states that have yet to notify their subscribers, in order: an intrusive list.
///
/// A completed state has no source any more, so its `link` holds the next element.
@safe struct EndedSources: ~Copyable {
    private var first: Unmanaged<FutureState>?
    private var last: Unmanaged<FutureState>?

    mutating func append(_ state: FutureState) {
        let state = unsafe Unmanaged.passRetained(state)
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.nextToNotify = state }
        } else {
            unsafe first = state
        }
        unsafe last = state
    }

    mutating func removeFirst() -> FutureState? {
        guard let state = unsafe first else { return nil }
        unsafe first = state._withUnsafeGuaranteedRef { unsafe $0.nextToNotify.take() }
        if unsafe first == nil { unsafe last = nil }
        return unsafe state.takeRetainedValue()
    }
}
