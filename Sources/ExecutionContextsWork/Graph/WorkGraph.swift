public import ExecutionContexts
internal import Synchronization

/// Work items that depend on each other, on one context that they share.
///
/// ```swift
/// let graph = WorkGraph(on: .global.serial(named: "images"))
/// let files = SingleFlight<String, [UInt8]>(name: "file", in: graph) { path, flight in
///     flight.follow(GlobalContext().submit { Array(path.utf8) })
/// }
/// let sizes = SingleFlight<String, Int>(name: "size", in: graph) { path, flight in
///     flight.process(files[path], on: .global) { bytes, _ in bytes.count }
/// }
/// sizes["birds/wren"].subscribe(priority: .high, on: .main) { event in
///     if case .finished(let size) = event { print(size) }
/// }
/// ```
///
/// A work item begins when its first subscriber joins, and equal work begins once for all its
/// subscribers (law 31). A work item subscribes to its dependencies. So two items can share a third
/// one, whose priority is the highest of all its subscribers', transitively (law 32). When its last
/// subscriber leaves, an item is cancelled, and then the items that only it needed.
///
/// Everything in a graph runs on its context, one job at a time; any thread may call. A call from
/// the context itself runs inline where order allows, so components that share one context call
/// each other without a submission (laws 4, 6). The context is injected once and never changes.
public final class WorkGraph: Sendable {
    /// The context of all work items of this graph.
    public var context: any SerialContext { jobs.context }

    let jobs: ConfinedJobs
    /// Held briefly, by reporting and by notifying threads, while events are handed over.
    let events: CriticalSection
    private let live = Atomic<Int>(0)
    private let dependencies = Atomic<Int>(0)

    /// Creates an empty graph on a context that it may share with others.
    ///
    /// If the context drops the end of work, the work ends with a refusal, on the thread that drops
    /// it (law 31).
    public init(on context: some SerialContext) {
        jobs = ConfinedJobs(on: context)
        events = CriticalSection(name: "events of \(context.name)")
    }

    /// How many work items have been requested and have not ended.
    // Relaxed: an informative count, which orders nothing.
    public var liveCount: Int {
        SimulationHooks.look()
        return live.load(ordering: .relaxed)
    }

    func count(_ change: Int) { live.add(change, ordering: .relaxed) }

    /// How many dependencies there are between work items.
    // Relaxed: accessed on the context only, which orders it.
    var dependencyCount: Int { dependencies.load(ordering: .relaxed) }

    func countDependencies(_ change: Int) { dependencies.add(change, ordering: .relaxed) }

    /// Returns work without a key: `body` begins it for its first subscriber, and again for one
    /// that joins after its end.
    @inlinable
    public func work<Value: Sendable>(
        named name: String, _ body: @escaping @Sendable (Flight<Value>) -> Void
    ) -> SharedWork<Value> {
        SharedWork(target: SoleTarget(self, name) { body(Flight($0)) })
    }
}
