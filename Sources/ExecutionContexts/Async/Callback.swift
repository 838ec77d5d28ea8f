internal import Synchronization

/// A closure of the user that the notifying thread calls with the outcome.
@usableFromInline
class Callback: FutureSubscriber, @unchecked Sendable {
    // Unchecked: the closure is taken out once, by the thread that is to call it.

    /// Calls the user's closure; its maker knows the value type.
    @usableFromInline typealias Body = @Sendable (FutureState) -> Void

    /// Boxes the closure in a struct: generic code returns a bare closure wrapped in a thunk.
    struct Boxed { let body: Body }

    @usableFromInline
    @exclusivity(unchecked) final var body: Body?

    @usableFromInline
    init(_ body: @escaping Body) {
        unsafe self.body = body
        super.init()
    }

    override func notify(by source: FutureState) { call(source) }

    @inline(__always)
    fileprivate final func call(_ source: FutureState) { unsafe body.take()?(source) }

    override var label: String { "\(kind) on 'immediate'" }

    fileprivate final var kind: String { isOnlooker ? "a side effect" : "a callback" }

    static let label = "a callback on 'immediate'"
}

/// A closure of the user that is called on a context.
@usableFromInline
final class HoppingCallback<Context: ExecutionContext>: Callback, @unchecked Sendable {
    // Unchecked: the context never changes. The notifying thread writes the source before the
    // context gets the job.
    @usableFromInline let context: Context
    private let place: CodePlace
    @exclusivity(unchecked) private var source: FutureState?
    private let hasArrived = Atomic<Bool>(false)

    @usableFromInline
    init(
        on context: Context, _ fileID: StaticString, _ line: UInt, _ body: @escaping Body
    ) {
        self.context = context
        place = CodePlace(fileID, line)
        super.init(body)
    }

    override func notify(by source: FutureState) {
        unsafe self.source = source
        // Captures nothing but this object, so the closure needs no allocation.
        context.execute(JobSource.carry(JobSource(place), { self.arrive() }))
    }

    private func arrive() {
        // Relaxed: `execute` has already ordered these writes before both runs.
        guard !hasArrived.exchange(true, ordering: .relaxed), let source = unsafe source.take()
        else { return }
        call(source)
    }

    override var label: String { "\(kind) on '\(context.name)'" }
}
