import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// A schedule is the same whether it is traced or not, and whether anything reads the sources of
/// jobs or not, over every base, view and queue of the library.
///
/// A search traces the first two schedules, and the failing one once more. If that one takes other
/// steps then, the search reports nondeterminism in place of the failure.
@Suite(.patient)
struct TracedScheduleTests {
    struct Maker: CustomTestStringConvertible, Sendable {
        let name: String
        let make: @Sendable (SimulatedWorld, any ExecutionContext) -> any ExecutionContext

        init(
            _ name: String,
            _ make:
                @escaping @Sendable (SimulatedWorld, any ExecutionContext) -> any ExecutionContext
        ) {
            (self.name, self.make) = (name, make)
        }

        var testDescription: String { name }
    }

    private struct Observer: ContextObserver {
        func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {}
    }

    /// Submits a job by a closure.
    private struct Submitting: ExecutionContext {
        let body: @Sendable (@escaping Work) -> Void

        var name: String { "submitting" }

        func execute(_ work: @escaping Work) { body(work) }
    }

    @TaskLocal private static var local = 0

    static let bases = [
        Maker("global") { sim, _ in sim.global },
        Maker("main") { sim, _ in sim.main },
        Maker("serial") { sim, _ in sim.serial(named: "s") },
        Maker("barrier") { sim, _ in sim.barrier(named: "b") },
    ]

    static let views = [
        Maker("itself") { $1 },
        Maker("named") { $1.with(.named("n")) },
        Maker("labeled") { $1.with(.labeled("l")) },
        Maker("serial") { $1.serial() },
        Maker("barrier") { $1.barrier() },
        Maker("limited") { $1.limited(to: 2) },
        Maker("bounded") { $1.bounded(to: 8, overflow: .refuse) },
        Maker("valid") { $1.valid(while: InvalidationToken()) },
        Maker("inline if current") { $1.with(.inlineIfCurrent) },
        Maker("propagating") { $1.with(.propagating($local)) },
        Maker("exclusive") { $1.with(.exclusive(CriticalSection())) },
        Maker("observed") { $1.with(.observed(by: Observer())) },
        Maker("watched") { $1.with(Watching(limit: .seconds(60), on: .immediate) { _ in }) },
        Maker("ending") { EndingSerialContext(on: $1) },
        Maker("faulty") { $0.faulty($1, []) },
        Maker("queue of one") { PrioritizedQueue(on: $1, limit: 1).context() },
        Maker("queue of two") { PrioritizedQueue(on: $1, limit: 2).context() },
        Maker("queue's results") { _, base in
            let queue = PrioritizedQueue(on: base, limit: 1)
            return Submitting { work in queue.submit { work() } }
        },
        Maker("limiter") { _, base in
            let limiter = RateLimiter(on: base, rate: 1_000)
            return Submitting { limiter.execute($0) }
        },
        Maker("limiter's results") { _, base in
            let limiter = RateLimiter(on: base, rate: 1_000)
            return Submitting { work in _ = limiter.submit { work() } }
        },
        Maker("confined") { _, base in
            let confined = Confined(0, to: base.serial())
            return Submitting { work in confined.perform { _ in work() } }
        },
        Maker("results") { _, base in Submitting { work in _ = base.submit { work() } } },
    ]

    /// Fails where the job of the second thread overtakes that of the first.
    private static func search(_ base: Maker, _ views: [Maker]) -> SimulationReport {
        ExecutionContextsTesting.search("overtaken", schedules: 300) { sim in
            let context = views.reduce(base.make(sim, .immediate)) { $1.make(sim, $0) }
            let order = Tracked<[Int]>([], name: "order")
            for number in 0..<3 {
                sim.spawn("thread \(number)") { context.execute { order.value += [number] } }
            }
            sim.finally("in order") { order.value == [0, 1, 2] }
        }
    }

    @Test(arguments: bases, views)
    func `Law 33: a failure over a view is found, and is the same when it is traced`(
        base: Maker, view: Maker
    ) throws {
        let failure = try #require(Self.search(base, [view]).failure)
        #expect(failure.kind == .invariant, "\(failure)")
    }

    private static let pairs = views.flatMap { inner in views.map { (inner, $0) } }

    @Test(arguments: sample(pairs, every: 5))
    func `Law 33: the same over a view of a view`(inner: Maker, outer: Maker) throws {
        let base = Self.bases[(inner.name.count + outer.name.count) % Self.bases.count]
        let failure = try #require(Self.search(base, [inner, outer]).failure)
        #expect(failure.kind == .invariant, "\(base.name): \(failure)")
    }

    /// Another test's recorder may come and go at any moment.
    @Test(arguments: views)
    func `Law 33: a reader of sources beside a search changes no schedule`(view: Maker) async throws
    {
        let isOver = Box(false)
        let reports = Box<[SimulationReport]>([])
        await offThePool {
            onThreads([
                {
                    while !isOver.value {
                        withExtendedLifetime(GlobalContext().observed(by: Observer())) {}
                    }
                },
                {
                    for base in Self.bases {
                        let report = Self.search(base, [view])
                        reports.withValue { $0.append(report) }
                    }
                    isOver.value = true
                },
            ])
        }
        for report in reports.value {
            #expect(try #require(report.failure).kind == .invariant, "\(report)")
        }
    }
}
