internal import Synchronization

/// What a handler made by `fromCallback` keeps: the cell of the `Async` that its first call ends.
@usableFromInline
final class CallbackPromise: @unchecked Sendable {
    // Unchecked: `cell` belongs to the first caller, who takes it; or to the end, when there is no caller any more.
    private let wasCalled = Atomic<Bool>(false)
    private var cell: PromiseCell?
    private let origin: Origin
    private var onFault: (@Sendable (CallbackFault) -> Void)?

    init(
        _ cell: PromiseCell, _ origin: Origin, _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) {
        self.cell = cell
        self.origin = origin
        self.onFault = onFault
    }

    // Nobody will ever call. What the closure captured may be the last reference to the next one of these.
    deinit {
        cell?.abandon()
        Delivery.free(onFault.take())
    }

    /// The cell for the first caller, and a report of every other one.
    ///
    /// It is taken out: who keeps a handler that was called does not keep the value (law 10).
    @usableFromInline
    func take() -> PromiseCell? {
        Seam.point()
        // Acquiring and releasing: the caller sees the cell as it was made.
        guard wasCalled.exchange(true, ordering: .acquiringAndReleasing) else { return cell.take() }
        onFault?(CallbackFault(.calledAgain, context: nil, origin: origin.description))
        return nil
    }
}

extension Async {
    /// What `start` gets and how its error ends the `Async`, whatever kind of handler it wants.
    @usableFromInline
    init(
        _ fileID: StaticString, _ line: UInt, _ onFault: @escaping @Sendable (CallbackFault) -> Void,
        start: (_ promise: CallbackPromise, _ onCancel: @escaping @Sendable (@escaping Work) -> Void) throws
            -> Void
    ) {
        let origin = Origin(fileID, line)
        let cell = PromiseCell(origin: origin)
        self.init(cell: cell)
        do {
            try start(CallbackPromise(cell, origin, onFault), { cell.onCancel($0) })
        } catch {
            cell.end(throwing: error)
        }
    }
}

extension PromiseCell {
    /// Ends it as a handler with an optional value and an optional error says; an error decides.
    @inlinable
    func end<Value>(with value: Value?, _ error: (any Error)?) {
        if let error {
            end(throwing: error)
        } else if let value {
            end(with: value)
        } else {
            end(throwing: AsyncError.noOutcome)
        }
    }
}
