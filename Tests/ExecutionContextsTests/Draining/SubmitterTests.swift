import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// The base runs and frees a job before `execute` returns, so a submitter that keeps the job frees its captures.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct SubmitterTests {
    @Test(arguments: seeds(debug: 300, release: 3000))
    func `Law 10: whatever lies between, captures are freed where the job ran`(_ seed: UInt64) async {
        await watched {
            var dice = Dice(seed: seed)
            let bases: [any ExecutionContext] = [
                Handover(), HandoverInOrder(), RecordingContext(HandoverInOrder()),
                TaskExecutorContext(HandoverExecutor()),
            ]
            var context = bases[dice.roll(bases.count)]
            var name = "\(type(of: context))"
            for _ in 0..<dice.roll(4) {
                let layer = Layer.allCases[dice.roll(Layer.allCases.count)]
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

/// Hands each task over, as ``Handover`` does.
private final class HandoverExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Handover().execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
