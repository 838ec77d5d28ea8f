/// Continues notification on a context; erases the type of the context.
@usableFromInline
class ContextHop: @unchecked Sendable {
    // Unchecked because it can be inherited from; it adds nothing that changes.
    /// Where the hop was asked for.
    final let place: CodePlace

    init(_ place: CodePlace) { self.place = place }

    /// The hop to a context; nil for the immediate one, where the notifying thread just continues.
    @inlinable
    static func to<Context: ExecutionContext>(
        _ context: Context, _ fileID: StaticString, _ line: UInt
    ) -> ContextHop? {
        Context.self == ImmediateContext.self ? nil : ContextHopTo(context, fileID, line)
    }

    func execute(_ work: consuming @escaping Work) { fatalError("A subclass overrides this.") }

    /// Runs `target.arrive(with: source)` on the context; calls `target.refuse` if the context
    /// refuses or drops the job.
    func hop(_ target: FutureState, with source: FutureState) {
        fatalError("A subclass overrides this.")
    }

    var name: String { fatalError("A subclass overrides this.") }

    /// Whether the context can run no other job before the caller's has ended.
    var isKeptBusyByCaller: Bool { fatalError("A subclass overrides this.") }
}

@usableFromInline
final class ContextHopTo<Context: ExecutionContext>: ContextHop, @unchecked Sendable {
    // Unchecked because the superclass can be inherited from; the context never changes.
    private let context: Context

    @usableFromInline
    init(_ context: Context, _ fileID: StaticString, _ line: UInt) {
        self.context = context
        super.init(CodePlace(fileID, line))
    }

    override func execute(_ work: consuming @escaping Work) { context.execute(consume work) }

    override func hop(_ target: FutureState, with source: FutureState) {
        let (work, refused) = CompletionGuard.closures(
            for: Arrival(target: target, outcome: source, context: name, place: place))
        context.execute(consume work, refused: consume refused)
    }

    override var name: String { context.name }

    override var isKeptBusyByCaller: Bool { context.isKeptBusyByCaller }
}

/// The job of a hop. If the context refuses or drops it, it calls `refuse` of the target.
private struct Arrival: GuardedJob {
    // A variable because `isKnownUniquelyReferenced` takes one.
    var target: FutureState
    let outcome: FutureState
    let context: String
    let place: CodePlace

    var source: JobSource { JobSource(place) }

    mutating func run() {
        if target.mayFollow {
            // Two statements: an assignment would retain the object before the check.
            let isAlone = isKnownUniquelyReferenced(&target)
            unsafe target.isUniquelyReferenced = isAlone
        }
        target.arrive(with: outcome)
    }

    func refuse(_ refusal: Refusal) { target.refuse(refusal) }

    func drop() { refuse(Refusal(.abandoned, by: context)) }
}

extension ExecutionContext {
    /// Whether it can run no other job before the caller's has ended, or the caller's hold.
    var isKeptBusyByCaller: Bool {
        var forecast = WaitForecast()
        forecast.mayTrap = false
        forecast.followUnlessHelped(self)
        return forecast.obstacle != nil
    }
}
