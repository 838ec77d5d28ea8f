public import ExecutionContexts
internal import Synchronization

/// Works that depend on each other, on one context that they share.
///
/// ```swift
/// let graph = WorkGraph(on: .global.serial("images"))
/// let files = SingleFlight<String, [UInt8]>("file", in: graph) { path, flight in
///     flight.follow(GlobalContext().submit { Array(path.utf8) })
/// }
/// let sizes = SingleFlight<String, Int>("size", in: graph) { path, flight in
///     flight.process(files[path], on: .global) { bytes, _ in bytes.count }
/// }
/// sizes["birds/wren"].subscribe(priority: .high, on: .main) { event in
///     if case .finished(let size) = event { print(size) }
/// }
/// ```
///
/// A work begins when the first subscriber comes, and equal work begins once, however many want it
/// (law 31). What it needs it subscribes to itself: so two works share a third one, its priority is
/// the highest of those who want it, all the way down (law 32), and when the last one leaves it is
/// cancelled, and what only it had wanted after it.
///
/// Everything in a graph happens on its context, one thing at a time; any thread may call. A call
/// from the context itself is done on the spot where order allows, so components that share one
/// context talk to each other without a submission (laws 4, 6). The context is given once and never
/// changed.
public final class WorkGraph: Sendable {
    /// The context of all works of this graph.
    public var context: any SerialContext { turns.context }

    let turns: Turns
    /// Held for moments, by threads that report and by threads that are told, while events change
    /// hands.
    let events: CriticalSection
    private let live = Atomic<Int>(0)
    private let needs = Atomic<Int>(0)

    /// Makes a graph without works on a context that it may share with others.
    ///
    /// The context must keep what it accepts: one that drops its oldest work for newer work may
    /// drop an end.
    public init(on context: some SerialContext) {
        turns = Turns(on: context)
        events = CriticalSection(name: "events of \(context.name)")
    }

    /// How many works have been asked for and have not ended.
    // Relaxed: a number to look at, which orders nothing.
    public var liveCount: Int { live.load(ordering: .relaxed) }

    func count(_ change: Int) { live.add(change, ordering: .relaxed) }

    /// How many needs there are between works.
    // Relaxed: it is touched on the context only, which orders it.
    var needCount: Int { needs.load(ordering: .relaxed) }

    func countNeeds(_ change: Int) { needs.add(change, ordering: .relaxed) }

    /// A work without a key: `body` begins it when the first subscriber comes, and again for a
    /// subscriber that comes after its end.
    public func work<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable (Flight<Value>) -> Void
    ) -> SharedWork<Value> {
        SharedWork(slot: SoleSlot(self, name, body))
    }
}
