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

    func execute(_ work: @escaping Work) { fatalError("A hop says where to.") }

    /// Gives `party` a turn on the context; it is told if the context refuses the turn or lets go of it.
    func take(_ party: any Traveller, to cell: AsyncCell) { fatalError("A hop says where to.") }

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

    override func execute(_ work: @escaping Work) { context.execute(work) }

    override func take(_ party: any Traveller, to cell: AsyncCell) {
        let turn = Turn(party, cell, name)
        context.execute({ turn.run() }, refused: { turn.refuse($0) })
    }

    override var name: String { context.name }

    override var isKeptByCaller: Bool { context is any SerialContext && context.isCurrent == true }
}

/// A party that does its part on a context, and must hear of it if it cannot (law 1).
protocol Traveller: AnyObject, Sendable {
    func arrive(at cell: AsyncCell)
    func refuse(_ refusal: Refusal)
}

/// What the context gets: if it dies unused, the context has let go of the work.
private final class Turn: Sendable {
    private let party: any Traveller
    private let cell: AsyncCell
    private let context: String

    init(_ party: any Traveller, _ cell: AsyncCell, _ context: String) {
        self.party = party
        self.cell = cell
        self.context = context
    }

    // After a run or a refusal the matter is over and this does nothing.
    deinit { party.refuse(Refusal(.abandoned, by: context)) }

    func run() { party.arrive(at: cell) }
    func refuse(_ refusal: Refusal) { party.refuse(refusal) }
}
