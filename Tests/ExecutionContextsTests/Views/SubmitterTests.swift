import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The base runs and frees a job before `execute` returns. A submitter that still kept the job
/// would free its captures on the wrong thread.
@Suite(.serialized, .patient)
struct SubmitterTests {
    @Test(arguments: seeds(debug: 100, release: 3000))
    func `Law 10: through any layers, captures are freed on the thread that ran the job`(
        _ seed: UInt64
    ) async {
        await watched {
            var rng = SeededRNG(seed: seed)
            let bases: [any ExecutionContext] = [
                Handover(), HandoverInOrder(), RecordingContext(HandoverInOrder()),
                TaskExecutorContext(HandoverExecutor()), EndingSerialContext(on: Handover()),
            ]
            var context = bases[rng.next(below: bases.count)]
            var name = "\(type(of: context))"
            for _ in 0..<rng.next(below: 4) {
                let layer = Layer.allCases[rng.next(below: Layer.allCases.count)]
                context = layer.apply(to: context)
                name += ", \(layer)"
            }
            for way in Submission.allCases {
                guard let trace = way.trace(on: context) else { continue }
                #expect(trace.ran != nil && trace.freed == trace.ran, "\(way), \(name)")
            }
        }
    }
}

/// Runs each job of a task on a thread of its own, as ``Handover`` does.
private final class HandoverExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Handover().execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
