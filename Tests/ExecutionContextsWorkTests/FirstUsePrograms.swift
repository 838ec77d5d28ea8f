import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import ExecutionContextsWork
import Foundation

/// Programs that each use one public type, from two simulated threads at once.
///
/// Each of them runs in a process that has done nothing before.
enum FirstUse {
    typealias Program = @Sendable (SimulatedWorld) -> Void

    private static func twice(_ sim: SimulatedWorld, _ body: @escaping @Sendable () throws -> Void)
    {
        for name in ["a", "b"] { sim.spawn(name, body) }
    }

    private enum Local { @TaskLocal static var tag = 0 }

    private final class Ignorer: ContextObserver {
        func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {}
    }

    static var names: [String] { programs.keys.sorted() }

    static func program(_ name: String) -> Program { programs[name]! }

    private static var programs: [String: Program] {
        contexts.merging(views) { $1 }.merging(coordination) { $1 }.merging(futures) { $1 }
            .merging(works) { $1 }
    }

    private static var contexts: [String: Program] {
        [
            "GlobalContext": { sim in twice(sim) { GlobalContext().execute { sim.step() } } },
            "GlobalContext(qos:)": { sim in
                twice(sim) { GlobalContext(qos: .utility).execute { sim.step() } }
            },
            "GlobalContext, after another": { sim in
                let view = sim.serial(named: "own").limited(to: 2)
                twice(sim) {
                    view.execute { GlobalContext(qos: .background).execute { sim.step() } }
                }
            },
            "PoolContext": { sim in twice(sim) { PoolContext(.high).execute { sim.step() } } },
            "MainContext": { sim in twice(sim) { _ = MainContext().isCurrent } },
            "MainContext, inline": { sim in
                twice(sim) { _ = MainContext().inlineIfCurrent().isCurrent }
            },
            "BlockingContext": { sim in twice(sim) { _ = (.blocking as BlockingContext).isCurrent }
            },
            "SerialQueueContext": { sim in
                twice(sim) { _ = SerialQueueContext(name: "own").isCurrent }
            },
            "BarrierQueueContext": { sim in
                twice(sim) { _ = BarrierQueueContext(name: "own").isCurrent }
            },
            "QueueContext": { sim in twice(sim) { _ = QueueContext(.global()).isCurrent } },
            "QueueContext of main": { sim in twice(sim) { _ = QueueContext(.main).isCurrent } },
            "OperationQueueContext": { sim in
                twice(sim) { _ = OperationQueueContext(OperationQueue()).isCurrent }
            },
            "ImmediateContext": { sim in twice(sim) { ImmediateContext().execute { sim.step() } } },
            "TrampolineContext": { sim in
                twice(sim) {
                    TrampolineContext().execute { TrampolineContext().execute { sim.step() } }
                }
            },
            "ClosureContext": { sim in
                twice(sim) {
                    ClosureContext { work in GlobalContext().execute(work) }.execute { sim.step() }
                }
            },
            "SystemTime": { sim in twice(sim) { _ = SystemTime.shared.now } },
            "delays": { sim in
                twice(sim) {
                    GlobalContext().schedule(after: .seconds(1)) { sim.step() }
                    GlobalContext().schedule(after: .seconds(2)) {}.cancel()
                }
            },
            "Repetition": { sim in
                twice(sim) {
                    let runs = Tracked(0, name: "runs")
                    let repetition = Box<Repetition?>(nil)
                    repetition.value = GlobalContext().schedule(every: .seconds(1)) {
                        runs.value += 1
                        if runs.value > 2 { repetition.value?.cancel() }
                    }
                }
            },
            "ManualContext": { sim in
                let manual = ManualContext()
                twice(sim) { manual.serial(named: "view").execute { sim.step() } }
                sim.finally("all ran") {
                    manual.runReady()
                    return true
                }
            },
            "tasks": { sim in
                let view = sim.serial(named: "own")
                for name in ["a", "b"] {
                    sim.task(name) {
                        try await view.run { sim.step() }
                        try await GlobalContext().runTask { await Task.yield() }
                        try await sim.clock.sleep(for: .seconds(1))
                    }
                }
            },
        ]
    }

    private static var views: [String: Program] {
        func view(
            _ make: @escaping @Sendable (GlobalContext, SimulatedWorld) -> any ExecutionContext
        ) -> Program {
            { sim in
                let view = make(GlobalContext(), sim)
                twice(sim) { view.execute { sim.step() } }
            }
        }
        return [
            "serial": view { base, _ in base.serial() },
            "serial.sync": { sim in
                let view = GlobalContext().serial()
                twice(sim) { view.sync { sim.step() } }
            },
            "limited": view { base, _ in base.limited(to: 1) },
            "barrier": { sim in
                let view = GlobalContext().barrier()
                twice(sim) { view.executeBarrier { sim.step() } }
            },
            "bounded": view { base, _ in base.bounded(to: 1, overflow: .callerRuns) },
            "bounded, waiting": { sim in
                let view = GlobalContext().bounded(to: 1, overflow: .wait)
                for name in ["a", "b"] { sim.task(name) { try await view.run { sim.step() } } }
            },
            "inlineIfCurrent": view { base, _ in base.inlineIfCurrent() },
            "named": view { base, _ in base.named("own") },
            "while": view { base, _ in base.valid(while: InvalidationToken()) },
            "exclusive": view { base, _ in base.exclusive(CriticalSection()) },
            "propagating": view { base, _ in base.propagating(Local.$tag) },
            "observed": view { base, _ in base.observed(by: Ignorer()) },
            "Recorder": view { base, _ in base.observed(by: Recorder()) },
        ]
    }

    private static var coordination: [String: Program] {
        [
            "CriticalSection": { sim in
                let section = CriticalSection()
                twice(sim) { section.execute { sim.step() } }
            },
            "ReadWriteCoordinator": { sim in
                let coordinator = ReadWriteCoordinator(writesOn: GlobalContext().serial())
                twice(sim) {
                    coordinator.enqueueWrite { sim.step() }
                    coordinator.read { sim.step() }
                    coordinator.blockingWrite { sim.step() }
                }
            },
            "ReadWriteCoordinator(over:)": { sim in
                let coordinator = ReadWriteCoordinator(over: sim.barrier(named: "own"))
                twice(sim) {
                    coordinator.enqueueWrite { sim.step() }
                    coordinator.read { sim.step() }
                }
            },
            "LockedResource": { sim in
                let resource = LockedResource(0, lockedBy: .section(named: "own"))
                twice(sim) { resource.mutate { $0 += 1 } }
            },
            "Transaction": { sim in
                let transaction = Transaction(on: GlobalContext().serial())
                twice(sim) { transaction.exclusively { sim.step() } }
            },
            "Registry": { sim in
                let registry = Registry<@Sendable (Int) -> Void>()
                twice(sim) {
                    let registration = registry.register { _ in sim.step() }
                    registry(1)
                    registration.deregister()
                }
            },
            "ThreadLocalValue": { sim in
                let local = ThreadLocalValue<Int> { _ in 1 }
                twice(sim) { _ = local.value() }
            },
            "ThreadLocalValue, made in a thread": { sim in
                twice(sim) { _ = ThreadLocalValue<Int> { _ in 1 }.value() }
            },
            "ThreadLocalValue(key:)": { sim in
                let local = ThreadLocalValue<Int>(key: "own") { _ in 1 }
                twice(sim) { _ = local.value() }
            },
        ]
    }

    private static var futures: [String: Program] {
        [
            "Async": { sim in
                twice(sim) {
                    let value = GlobalContext().submit { 1 }.map { $0 + 1 }
                    value.onSuccess(on: .global) { _ in sim.step() }
                    _ = try value.wait()
                }
            },
            "Async.all": { sim in
                twice(sim) {
                    let all = (0..<2).map { number in GlobalContext().submit { number } }
                    _ = try Async.all(all).wait()
                    _ = try Async.first(of: all).wait()
                }
            },
            "timeouts": { sim in
                twice(sim) {
                    let promise = Promise<Int>()
                    promise.async.timeout(after: .seconds(1), on: .global).onFailure { _ in
                        sim.step()
                    }
                    promise.async.delay(.seconds(3), on: .global).onComplete { _ in }
                    GlobalContext().schedule(after: .seconds(2)) { promise.succeed(1) }
                }
            },
        ]
    }

    private static var works: [String: Program] {
        [
            "PrioritizedQueue": { sim in
                let queue = PrioritizedQueue(on: .global, limit: 1)
                twice(sim) { queue.submit(priority: .low) { sim.step() }.priority = .high }
            },
            "PrioritizedQueue.submitOpen": { sim in
                let queue = PrioritizedQueue(on: .global, limit: 1)
                twice(sim) {
                    queue.submitOpen(of: Int.self) { work in
                        GlobalContext().execute { work.succeed(1) }
                    }
                }
            },
            "PrioritizedQueue.context": { sim in
                let context = PrioritizedQueue(on: .global, limit: 1).context()
                twice(sim) { context.execute { sim.step() } }
            },
            "RateLimiter": { sim in
                let limiter = RateLimiter(on: GlobalContext().serial(), rate: 1, per: .seconds(1))
                twice(sim) { limiter.submit { sim.step() } }
            },
            "debounced": { sim in
                let call = GlobalContext().debounced(by: .seconds(1)) { (_: Int) in sim.step() }
                twice(sim) { call(1) }
            },
            "throttled": { sim in
                let call = GlobalContext().throttled(to: .seconds(1), .first) { (_: Int) in
                    sim.step()
                }
                twice(sim) { call(1) }
            },
            "Once": { sim in
                let once = Once()
                twice(sim) { once { sim.step() } }
            },
            "Confined": { sim in
                let confined = Confined(0, to: GlobalContext().serial())
                twice(sim) { confined.perform { $0 += 1 } }
            },
            "WorkGraph": { sim in
                let flights = SingleFlight<Int, Int>(on: GlobalContext().serial()) { _, flight in
                    flight.report(WorkProgress(completed: 1))
                    flight.follow(GlobalContext().submit { 1 })
                }
                twice(sim) {
                    flights[1].subscribe(priority: .high, on: .global) { _ in sim.step() }
                        .priority = .low
                    flights[2].subscribe { _ in }.cancel()
                }
            },
        ]
    }
}
