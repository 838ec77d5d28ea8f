/// A delay as the timer wheel holds it: one pointer, whose references the wheel counts by hand.
///
/// A delay is linked into a list by its own fields, so being pending costs no memory but the
/// delay's own. Safe to use under the wheel's rule: from `init(retaining:)` until `release()` or
/// `take()` the delay lives.
@safe package struct TimerNode: Equatable {
    private let reference: Unmanaged<DelayedWork>

    init(retaining delay: DelayedWork) {
        unsafe reference = .passRetained(delay)
    }

    init(linked delay: DelayedWork) {
        unsafe reference = .passUnretained(delay)
    }

    func release() { unsafe reference.release() }

    package func take() -> DelayedWork { unsafe reference.takeRetainedValue() }

    package static func == (left: TimerNode, right: TimerNode) -> Bool {
        unsafe left.reference.toOpaque() == right.reference.toOpaque()
    }

    var next: TimerNode {
        get { unsafe reference._withUnsafeGuaranteedRef { unsafe $0.next.unsafelyUnwrapped } }
        nonmutating set { unsafe reference._withUnsafeGuaranteedRef { unsafe $0.next = newValue } }
    }

    var previous: TimerNode {
        get { unsafe reference._withUnsafeGuaranteedRef { unsafe $0.previous.unsafelyUnwrapped } }
        nonmutating set {
            unsafe reference._withUnsafeGuaranteedRef { unsafe $0.previous = newValue }
        }
    }

    var listIndex: UInt16 {
        get { unsafe reference._withUnsafeGuaranteedRef { unsafe $0.listIndex } }
        nonmutating set {
            unsafe reference._withUnsafeGuaranteedRef { unsafe $0.listIndex = newValue }
        }
    }

    var deadline: Int64 {
        unsafe reference._withUnsafeGuaranteedRef { unsafe $0.deadlineNanoseconds }
    }
}
