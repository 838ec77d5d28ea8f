import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Laws 10, 32: what a work item has started for itself ends with it, however it ends, and the
/// captures of its body are freed.
@Suite(.patient)
struct WorkEndingTests {
    private struct Oops: Error {}
    private final class Witness: Sendable {}

    enum End: CaseIterable, Sendable { case success, failure, needFailed, cycle, cancel, timeLimit }
    enum Started: CaseIterable, Sendable {
        case async, pendingJob, openJob, work, workElsewhere, processing, processingOnQueue, byHand
    }

    @Test(arguments: End.allCases, Started.allCases)
    func `Law 32: whatever a work item follows ends with it, however it ends`(
        end: End, started: Started
    )
        throws
    {
        let context = ManualContext()
        let graph = WorkGraph(on: context)
        let (flight, lower, need) = (
            Box<Flight<Int>?>(nil), Box<Flight<Int>?>(nil), Box<Flight<Int>?>(nil)
        )
        let queue = PrioritizedQueue(on: context, limit: started == .openJob ? 1 : 0)
        let promise = Promise<Int>()
        let (stopped, open) = (Box(false), Box<OpenWork<Int>?>(nil))
        promise.onCancel { stopped.value = true }
        let far: SharedWork<Int> = WorkGraph(on: context).work(named: "far") { lower.value = $0 }
        let near: SharedWork<Int> = graph.work(named: "near") { lower.value = $0 }
        let needed: SharedWork<Int> = graph.work(named: "needed") { need.value = $0 }
        let idle = ManualContext()
        let own = Box<SharedWork<Int>?>(nil)
        let work: SharedWork<Int> = graph.work(named: "work") { running in
            flight.value = running
            running.depend(on: needed) { event in
                if case .failure(let error)? = event.outcome { running.fail(error) }
            }
            switch started {
            case .async: running.follow(promise.async)
            case .pendingJob: running.follow(queue.submit { 1 })
            case .openJob:
                running.follow(
                    queue.submitOpen { work in
                        work.onCancel { stopped.value = true }
                        open.value = work
                    })
            case .work: running.follow(near)
            case .workElsewhere: running.follow(far)
            case .processing: running.process(near, on: idle) { value, _ in value }
            case .processingOnQueue: running.process(near, on: queue) { value, _ in value }
            case .byHand: running.onEnd { stopped.value = true }
            }
        }
        own.value = work
        let value =
            end == .timeLimit ? work.value().timeout(after: .seconds(1), on: context) : work.value()
        context.runReady()
        if started == .processing || started == .processingOnQueue {
            lower.value!.yield(1)
            context.runReady()
            #expect(idle.readyCount + queue.pendingCount == 1)
        }
        switch end {
        case .success: flight.value!.succeed(1)
        case .failure: flight.value!.fail(Oops())
        case .needFailed: need.value!.fail(Oops())
        case .cycle: flight.value!.follow(own.value!)
        case .cancel: value.cancel()
        case .timeLimit: context.advance(by: .seconds(2))
        }
        context.runReady()
        #expect(value.outcome != nil)
        switch started {
        case .async, .openJob, .byHand: #expect(stopped.value)
        case .pendingJob: #expect(queue.pendingCount == 0)
        case .work, .workElsewhere: #expect(lower.value!.isCancelled)
        case .processing, .processingOnQueue:
            #expect(lower.value!.isCancelled)
            #expect(queue.pendingCount == 0)
            let ran = idle.runReady()
            #expect(ran <= 1)
        }
        #expect(graph.liveCount == 0)
        own.value = nil
    }

    @Test(arguments: ["sole", "keyed"], [true, false])
    func `Law 10: a body's captures are freed when it cannot begin again, also while in flight`(
        kind: String, ended: Bool
    ) {
        weak var seen: Witness?
        let context = ManualContext()
        let flight = Box<Flight<Int>?>(nil)
        let subscription: Subscription
        do {
            let witness = Witness()
            seen = witness
            let work: SharedWork<Int> =
                kind == "sole"
                ? WorkGraph(on: context).work(named: "work") { running in
                    _ = witness
                    flight.value = running
                }
                : SingleFlight<Int, Int>(on: context) { _, running in
                    _ = witness
                    flight.value = running
                }[1]
            subscription = work.subscribe { _ in }
            context.runReady()
        }
        if ended { flight.value!.succeed(1) }
        context.runReady()
        #expect(flight.value!.isCancelled == false)
        #expect(seen == nil)
        withExtendedLifetime(subscription) {}
    }

    @Test
    func `Handlers of the end run once, in the order of registration, and at once after the end`() {
        let context = ManualContext()
        let log = Box<[String]>([])
        let flight = Box<Flight<Int>?>(nil)
        let work: SharedWork<Int> = WorkGraph(on: context).work(named: "work") { running in
            running.onEnd { log.withValue { $0.append("first") } }
            running.onCancel { log.withValue { $0.append("cancelled") } }
            running.onEnd { log.withValue { $0.append("second") } }
            flight.value = running
        }
        let subscription = work.subscribe { _ in }
        context.runReady()
        subscription.cancel()
        context.runReady()
        flight.value!.onEnd { log.withValue { $0.append("late") } }
        context.runReady()
        #expect(log.value == ["first", "cancelled", "second", "late"])
        log.value = []
        work.subscribe { _ in }
        context.runReady()
        flight.value!.succeed(1)
        context.runReady()
        #expect(log.value == ["first", "second"])
    }
}
