import Dispatch
import ExecutionContexts
import ExecutionContextsTesting

/// Random calls of several threads to one composition, and the faults that they show.
final class Play: Sendable {
    private struct State {
        var faults: [String] = []
        var submitted = 0
        var inside = 0
        /// For each thread, the last of its ordered jobs that ran.
        var last: [Int: Int] = [:]
    }

    private let composition: Composition
    private let state = Box(State())
    private let ended = DispatchSemaphore(value: 0)
    private let isSerial: Bool

    init(_ composition: Composition) {
        self.composition = composition
        isSerial = composition.context is any SerialContext
    }

    var faults: [String] { state.value.faults }

    /// Makes one call, drawn from `rng`.
    func act(_ thread: Int, _ index: Int, _ rng: inout SeededRNG) {
        let context = composition.context
        let mayWait = !composition.dropsJobs
        switch rng.next(below: 12) {
        case 0 where mayWait:
            if let context = context as? any SynchronousContext {
                return context.sync { visit(thread, index) }
            }
            context.execute(job(thread, index))
        case 1 where mayWait:
            guard let context = context as? any SynchronousBarrierContext else {
                return context.execute(job(thread, index))
            }
            let hold = context.hold()
            visit(thread, index)
            hold.release()
        case 2: context.enqueue(job(thread, index))
        case 3 where composition.manual == nil: context.schedule(after: .zero, job(thread, nil))
        case 4:
            // From inside a job: the inner job runs later, or inline as a part of the outer one.
            // Only the outer one has it: this thread would free it beside other jobs.
            context.execute(
                job(thread, index) { [inner = job(thread, nil)] in context.execute(inner) })
        case 5: context.execute(job(thread, index), refused: { _ in })
        case 6:
            if let context = context as? any BarrierContext {
                context.executeBarrier(job(thread, index))
            }
        default: context.execute(job(thread, index))
        }
    }

    /// Waits until every job has run or was dropped, and every capture is freed.
    func finish() {
        for _ in 0..<state.value.submitted {
            if let manual = composition.manual {
                while ended.wait(timeout: .now()) != .success { manual.runReady() }
            } else {
                ended.wait()
            }
        }
    }

    private func job(_ thread: Int, _ index: Int?, _ more: Work? = nil) -> Work {
        state.withValue { $0.submitted += 1 }
        let token = Token(self)
        return {
            token.run()
            // A job that `more` submits inline is a part of this job.
            self.visit(thread, index)
            more?()
        }
    }

    private func visit(_ thread: Int, _ index: Int?) {
        enter("a job")
        if let index, isSerial {
            state.withValue { state in
                if let last = state.last[thread], last >= index {
                    state.faults.append("\(index) after \(last)")
                }
                state.last[thread] = index
            }
        }
        leave()
    }

    fileprivate func enter(_ what: String) {
        state.withValue { state in
            state.inside += 1
            if state.inside > 1, isSerial { state.faults.append("\(what) beside another") }
        }
    }

    fileprivate func leave() { state.withValue { $0.inside -= 1 } }

    fileprivate func end(ran: Int) {
        // A capture's deinit is a part of its job, so no other job may run beside it.
        enter("a capture's deinit")
        state.withValue { state in
            if ran > 1 || ran == 0 && !composition.dropsJobs {
                state.faults.append("ran \(ran) times")
            }
        }
        leave()
        ended.signal()
    }
}

/// What a job captures. `finish` waits for its deinit.
private final class Token: Sendable {
    private let play: Play
    private let count = Box(0)
    init(_ play: Play) { self.play = play }
    func run() { count.withValue { $0 += 1 } }
    deinit { play.end(ran: count.value) }
}
