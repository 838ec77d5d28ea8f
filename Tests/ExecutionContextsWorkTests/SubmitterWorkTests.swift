import ExecutionContexts
import ExecutionContextsWork
import TestSupport
import Testing

/// The base runs and frees a job before it returns. A queue or a limiter that still keeps the job
/// then frees its captures, on the wrong thread.
@Suite(.patient)
struct SubmitterWorkTests {
    @Test(arguments: Submission.allCases)
    func `Law 10: captures are freed where the job ran`(_ way: Submission) async {
        await watched {
            for context: any ExecutionContext in [
                PrioritizedQueue(on: Handover(), limit: 2).context(), Limited(),
            ] {
                guard let trace = way.trace(on: context) else { continue }
                #expect(trace.ran != nil && trace.freed == trace.ran, "\(context)")
            }
        }
    }

    /// A limiter with tokens to spare, as a context.
    private struct Limited: ExecutionContext {
        let limiter = RateLimiter(on: HandoverInOrder(), rate: 1000, burst: 1000)
        func execute(_ work: consuming @escaping Work) { limiter.execute(consume work) }
    }
}
