internal import Synchronization

/// A closure of the user's that is to be called with the outcome, by whoever tells.
@usableFromInline
class Callback: Party, @unchecked Sendable {
    // Unchecked: the closure is taken out by whoever is told to call it, once.

    /// The user's closure, by who knows the type.
    @usableFromInline typealias Body = @Sendable (AsyncCell) -> Void

    /// Kept in a struct: a closure that goes through generic code by itself comes back in a thunk.
    struct Boxed { let body: Body }

    @usableFromInline
    @exclusivity(unchecked) final var body: Body?

    @usableFromInline
    init(_ body: @escaping Body) {
        unsafe self.body = body
        super.init()
    }

    override func tell(by cell: AsyncCell) { call(cell) }

    @inline(__always)
    fileprivate final func call(_ cell: AsyncCell) { unsafe body.take()?(cell) }

    override var label: String { Self.label }

    static let label = "a callback on 'immediate'"
}

/// A closure of the user's that is to be called on a context.
@usableFromInline
final class HoppingCallback<Context: ExecutionContext>: Callback, @unchecked Sendable {
    // Unchecked: the context never changes; the cell is written by who tells, before the context gets this.
    @usableFromInline let context: Context
    @exclusivity(unchecked) private var cell: AsyncCell?
    private let hasArrived = Atomic<Bool>(false)

    @usableFromInline
    init(on context: Context, _ body: @escaping Body) {
        self.context = context
        super.init(body)
    }

    override func tell(by cell: AsyncCell) {
        unsafe self.cell = cell
        // Captures nothing but this object, and so needs no memory of its own.
        context.execute { self.arrive() }
    }

    private func arrive() {
        // Relaxed: a context that runs work twice has got all of this before either time.
        guard !hasArrived.exchange(true, ordering: .relaxed), let cell = unsafe cell.take() else { return }
        call(cell)
    }

    override var label: String { "a callback on '\(context.name)'" }
}
