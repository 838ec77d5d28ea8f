import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Jobs that a simulated program submits to contexts outside the simulation.
///
/// The simulation itself runs the jobs of the global context and the pool. It reports every other
/// context by name.
@Suite(.patient)
struct LeavingTests {
    private static let shared: [any ExecutionContext] = [
        GlobalContext(), GlobalContext(qos: .utility), PoolContext(), PoolContext(.high),
    ]

    @Test(arguments: shared)
    func `Law 33: a job for a shared context runs in the schedule, and the fault is found`(
        context: any ExecutionContext
    ) throws {
        let report = search("two hops") { sim in
            let balance = Tracked(100, name: "balance")
            for name in ["alice", "bob"] {
                sim.spawn(name) {
                    context.execute {
                        let before = balance.value
                        context.execute { balance.value = before - 10 }
                    }
                }
            }
            sim.finally("both were taken") { balance.value == 80 }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .invariant, "\(failure)")
        #expect(failure.told.contains("submits to 'global'"), "\(failure)")
    }

    @Test(arguments: shared)
    func `Law 4: a simulated job of a shared context is current on that context`(
        context: any ExecutionContext
    ) throws {
        try simulate("where", schedules: 50, ignoring: [.vacuous]) { sim in
            let answers = Tracked<[Bool?]>([], name: "a word")
            sim.spawn("alice") { context.execute { answers.value.append(context.isCurrent) } }
            sim.finally("current") { answers.value == [true] }
        }
    }

    @Test(arguments: shared)
    func `Law 7: delays on a shared context pass in simulated time, and can be cancelled`(
        context: any ExecutionContext
    ) throws {
        try simulate(
            "an hour's rest", schedules: 50, horizon: .seconds(10_000), ignoring: [.vacuous]
        ) { sim in
            let moments = Tracked<[Duration]>([], name: "a word")
            sim.spawn("alice") {
                let never = context.schedule(after: .seconds(3_000)) {
                    moments.value.append(.seconds(-1))
                }
                context.serial(named: "views, too").schedule(after: .seconds(3_600)) {
                    moments.value.append(.nanoseconds(sim.time.now.nanoseconds))
                }
                context.schedule(after: .seconds(1)) { never.cancel() }
            }
            sim.finally("after an hour") { moments.value == [.seconds(3_600)] }
        }
    }

    @Test func `Law 33: a service without an injected context is simulated unchanged`() throws {
        try simulate("as it ships", schedules: 300) { sim in
            let stock = LockedResource(0, lockedBy: .coordinator)
            let orders = LockedResource(0, lockedBy: .section)
            let answer = Tracked(0, name: "a word")
            sim.spawn("alice") {
                stock.enqueueWrite { $0 += 1 }
                precondition(stock.read { $0 } >= 1)
                orders.enqueueWrite { $0 += 1 }
            }
            sim.spawn("bob") {
                stock.enqueueWrite { $0 += 1 }
                GlobalContext().submit { 20 }.map(on: .pool) { $0 + 1 }.onSuccess(on: .global) {
                    answer.value = $0
                }
            }
            sim.finally("all was done") {
                stock.read { $0 } == 2 && orders.read { $0 } == 1 && answer.value == 21
            }
        }
    }

    @Test func `Law 33: a time limit on a shared context passes in simulated time`() throws {
        try simulate("limit", schedules: 50) { sim in
            let promise = Promise<Int>()
            sim.spawn("alice") {
                let limited = promise.async.timeout(after: .seconds(600), on: .global)
                #expect(throws: (any Error).self) { try limited.wait() }
                withExtendedLifetime(promise) {}
            }
        }
    }

    private actor Clerk {}

    private final class Others: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let (job, executor) = unsafe (UnownedJob(job), asUnownedTaskExecutor())
            DispatchQueue.global().async { unsafe job.runSynchronously(on: executor) }
        }
    }

    // Made anew for each case: a view that waits for a drain asks for no other one.
    private static let outside: [@Sendable () -> any ExecutionContext] = [
        { .serial(named: "own serial queue") }, { .barrier(named: "own barrier queue") },
        { DispatchQueue(label: "a user's queue").context }, { OperationQueue().context },
        { .main }, { .thread(named: "own thread") }, { .runLoopThread(named: "own run loop") },
        { .blocking }, { WorkerPool(name: "own pool") }, { Clerk().context },
        { Others().context },
    ]

    /// The ways to give a job to a context.
    private enum Way: CaseIterable {
        case execute, enqueue, refusable, barrier, delayed

        func submit(to context: any ExecutionContext) {
            switch self {
            case .execute: context.execute {}
            case .enqueue: context.enqueue {}
            case .refusable: context.execute({}, refused: { _ in })
            case .barrier: (context as? any BarrierContext)?.executeBarrier {}
            case .delayed: context.schedule(after: .seconds(1)) {}
            }
        }
    }

    @Test(arguments: outside.indices, Way.allCases)
    private func `Law 33: a job that leaves is reported, with its submitter and context`(
        index: Int, way: Way
    ) throws {
        let context = Self.outside[index]()
        guard way != .barrier || context is any BarrierContext else { return }
        let report = search("leaving", schedules: 2) { sim in
            sim.spawn("alice") { way.submit(to: context) }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .foreign, "\(failure)")
        let submitter = way == .delayed ? "the clock" : "alice"
        #expect(
            failure.happened.contains("'\(submitter)' gave work to '\(context.name)'"),
            "\(failure)")
        #expect(failure.happened.contains("law 33"))
    }

    @Test func `Law 33: a job may leave the simulation if the caller ignores that kind of failure`()
    {
        let log = SerialQueueContext(name: "log")
        let report = search("log", schedules: 20, ignoring: [.vacuous, .foreign]) { sim in
            sim.spawn("alice") { log.execute {} }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: jobs of threads outside the simulation run as usual beside it`() throws {
        let (begins, ends) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let count = Box(0)
        DispatchQueue(label: "outside").async {
            begins.wait()
            for context in Self.shared {
                context.execute {
                    count.withValue { $0 += 1 }; ends.signal()
                }
            }
        }
        try simulate("beside", schedules: 3, ignoring: [.vacuous]) { sim in
            sim.spawn("alice") { begins.signal() }
        }
        for _ in Self.shared { ends.wait() }
        #expect(count.value == Self.shared.count)
    }
}
