internal import Synchronization

/// What a handler made by `fromCallback` keeps: the state of the future that its first call
/// completes.
@usableFromInline
final class CallbackPromise: @unchecked Sendable {
    // Unchecked: `state` belongs to the first caller, or to `deinit` if there is no caller.
    private let wasCalled = Atomic<Bool>(false)
    private var state: PromiseState?
    private let location: CodeLocation
    private var onFault: (@Sendable (CallbackFault) -> Void)?

    init(
        _ state: PromiseState, _ location: CodeLocation,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) {
        self.state = state
        self.location = location
        self.onFault = onFault
    }

    // No caller is left. Captures of the closure may hold the last reference to another promise.
    deinit {
        state?.abandon()
        BoundedNesting.free(onFault.take())
    }

    /// Returns the future state to the first caller, and reports any other call.
    ///
    /// The state is taken out, so that a handler that was called does not keep the value alive
    /// (law 10).
    @usableFromInline
    func take() -> PromiseState? {
        SimulationHooks.point()
        // Acquiring and releasing: the caller sees the future state as it was initialized.
        guard wasCalled.exchange(true, ordering: .acquiringAndReleasing) else {
            return state.take()
        }
        onFault?(CallbackFault(.calledAgain, context: nil, sourceLocation: location.description))
        return nil
    }
}

extension Async {
    /// Calls `start` with a handler of any kind; an error that it throws completes the future.
    @usableFromInline
    init(
        _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void,
        start: (
            _ promise: CallbackPromise, _ onCancel: @escaping @Sendable (@escaping Work) -> Void
        ) throws
            -> Void
    ) {
        let location = CodeLocation(fileID, line)
        let state = PromiseState(location: location)
        self.init(state: state)
        do {
            try start(CallbackPromise(state, location, onFault), { state.onCancel($0) })
        } catch {
            state.complete(throwing: error)
        }
    }
}

extension PromiseState {
    /// Completes the future with an optional value and an optional error; the error takes
    /// precedence.
    @inlinable
    func complete<Value>(with value: Value?, _ error: (any Error)?) {
        if let error {
            complete(throwing: error)
        } else if let value {
            complete(with: value)
        } else {
            complete(throwing: AsyncError.noOutcome)
        }
    }
}
