import ExecutionContexts
import ExecutionContextsObservation

/// Jobs on a limited view of the global context, recorded from the first to the last.
struct LimitedJobs {
    let recorder = Recorder()

    /// Runs `count` jobs, at most `limit` at a time, and returns when all have ended.
    init(count: Int, limit: Int, _ body: @escaping Work) async {
        let limited = GlobalContext().limited(to: limit)
        let observed = limited.named("limited to \(limit)").observed(by: recorder)
        for _ in 0..<count { observed.execute(body) }
        await withCheckedContinuation { done in limited.executeBarrier { done.resume() } }
    }

    /// The most jobs that ran at one time, according to the recorder.
    var mostAtOnce: Int {
        let jobs = recorder.jobs
        let starts = jobs.compactMap(\.started).map { (instant: $0, change: 1) }
        let ends = jobs.compactMap(\.ended).map { (instant: $0, change: -1) }
        // A job that ends at the instant at which another starts does not overlap it.
        let changes = (starts + ends).sorted { ($0.instant, $0.change) < ($1.instant, $1.change) }
        var (running, most) = (0, 0)
        for (_, change) in changes {
            running += change
            most = max(most, running)
        }
        return most
    }
}
