internal import Synchronization

/// The way to the context on which somebody wants to be told; the type of the context is left behind here.
@usableFromInline
class Hop: @unchecked Sendable {
    // Unchecked because it can be inherited from; the context never changes.
    @usableFromInline
    init() {}

    /// The hop to a context, or nil for the immediate one, where whoever tells just goes on.
    @inlinable
    static func to<Context: ExecutionContext>(_ context: Context) -> Hop? {
        Context.self == ImmediateContext.self ? nil : HopTo(context)
    }

    func execute(_ work: consuming @escaping Work) { fatalError("A hop says where to.") }

    /// Gives `party` a turn on the context; it is told if the context refuses the turn or lets go of it.
    func take(_ party: AsyncCell, to cell: AsyncCell) { fatalError("A hop says where to.") }

    var name: String { fatalError("A hop says where to.") }

    /// Whether the caller keeps the context busy, which does one piece of work at a time.
    var isKeptByCaller: Bool { fatalError("A hop says where to.") }
}

@usableFromInline
final class HopTo<Context: ExecutionContext>: Hop, @unchecked Sendable {
    // Unchecked for the reason given above.
    private let context: Context

    @usableFromInline
    init(_ context: Context) {
        self.context = context
        super.init()
    }

    override func execute(_ work: consuming @escaping Work) { context.execute(consume work) }

    override func take(_ party: AsyncCell, to cell: AsyncCell) {
        let turn = Turn(party, cell, name)
        context.execute({ turn.run() }, refused: { turn.refuse($0) })
    }

    override var name: String { context.name }

    override var isKeptByCaller: Bool { context is any SerialContext && context.isCurrent == true }
}

/// What the context gets: if it dies unused, the context has dropped the work.
private final class Turn: @unchecked Sendable {
    // Unchecked: nothing changes but the mark. The party is a variable because only of one can be asked who else has it,
    // which the one does that uses the turn.
    private var party: AsyncCell
    private let cell: AsyncCell
    private let context: String
    private let isUsed = Atomic<Bool>(false)

    init(_ party: AsyncCell, _ cell: AsyncCell, _ context: String) {
        self.party = party
        self.cell = cell
        self.context = context
    }

    deinit { refuse(Refusal(.abandoned, by: context)) }

    func run() {
        guard isMine() else { return }
        if party.mayPassOn {
            // Two statements: an assignment takes a reference to the object before it asks.
            let isAlone = isKnownUniquelyReferenced(&party)
            unsafe party.isUnheld = isAlone
        }
        party.arrive(at: cell)
    }

    func refuse(_ refusal: Refusal) { if isMine() { party.refuse(refusal) } }

    // Acquiring: what was written before the context got the turn is seen, whatever the context does.
    private func isMine() -> Bool { !isUsed.exchange(true, ordering: .acquiring) }
}
