/// Continues notification on a context; erases the type of the context.
@usableFromInline
class ContextHop: @unchecked Sendable {
    // Unchecked because it can be inherited from; the context never changes.
    @usableFromInline
    init() {}

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

    /// Whether the caller occupies the context, which runs one job at a time.
    var isOccupiedByCaller: Bool { fatalError("A subclass overrides this.") }
}

@usableFromInline
final class ContextHopTo<Context: ExecutionContext>: ContextHop, @unchecked Sendable {
    // Unchecked because the superclass can be inherited from; the context never changes.
    private let context: Context
    /// Where the hop was asked for.
    private let place: CodePlace

    @usableFromInline
    init(_ context: Context, _ fileID: StaticString, _ line: UInt) {
        self.context = context
        place = CodePlace(fileID, line)
        super.init()
    }

    override func execute(_ work: consuming @escaping Work) {
        context.execute(JobSource.carry(JobSource(place), consume work))
    }

    override func hop(_ target: FutureState, with source: FutureState) {
        let job = CompletionGuard(Arrival(target: target, source: source, context: name))
        context.execute(
            JobSource.carry(JobSource(place), { job.run() }), refused: { job.refuse($0) })
    }

    override var name: String { context.name }

    override var isOccupiedByCaller: Bool {
        context is any SerialContext && context.isCurrent == true
    }
}

/// The job of a hop. If the context refuses or drops it, it calls `refuse` of the target.
private struct Arrival: GuardedJob {
    // A variable because `isKnownUniquelyReferenced` takes one.
    var target: FutureState
    let source: FutureState
    let context: String

    mutating func run() {
        if target.mayFollow {
            // Two statements: an assignment would retain the object before the check.
            let isAlone = isKnownUniquelyReferenced(&target)
            unsafe target.isUniquelyReferenced = isAlone
        }
        target.arrive(with: source)
    }

    func refuse(_ refusal: Refusal) { target.refuse(refusal) }

    func drop() { refuse(Refusal(.abandoned, by: context)) }
}
