/// A closure of the user's that is to be called with the outcome.
@usableFromInline
final class Callback: Party, @unchecked Sendable {
    // Unchecked: the closure is taken out by whoever is told to call it, once; the hop never changes.

    /// The user's closure, by who knows the type.
    @usableFromInline typealias Body = @Sendable (AsyncCell) -> Void

    /// Kept in a struct: a closure that goes through generic code by itself comes back in a thunk.
    struct Boxed { let body: Body }

    @exclusivity(unchecked) private var body: Body?
    private let hop: Hop?

    @usableFromInline
    init(_ hop: Hop?, _ body: @escaping Body) {
        self.hop = hop
        unsafe self.body = body
        super.init()
    }

    override func tell(by cell: AsyncCell) {
        guard let hop else { return call(cell) }
        hop.execute { self.call(cell) }
    }

    private func call(_ cell: AsyncCell) { unsafe body.take()?(cell) }

    override var label: String { Self.label(on: hop) }

    static func label(on hop: Hop?) -> String { "a callback on '\(hop?.name ?? "immediate")'" }
}
