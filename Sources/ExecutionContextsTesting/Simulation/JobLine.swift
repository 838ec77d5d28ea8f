internal import ExecutionContexts

/// The work that waits for one simulated context, and the lanes that run it.
///
/// One lane makes it a serial context, many a pool; a piece that is a barrier has it to itself.
final class JobLine: @unchecked Sendable {
    // Unchecked: it belongs to whoever has the turn, but for the edges.

    struct Job {
        let run: () -> Void
        let isBarrier: Bool
        let caller: Lane?
        /// What the submitter did before is seen by the work.
        let edge: Edge
    }

    let name: String
    /// How many lanes there may be.
    let width: Int
    private unowned let stage: Stage
    private var jobs: [Job] = []
    private var workers: [Lane] = []
    private var active = 0
    private var isExclusive = false
    /// How many lanes have been woken for jobs that they have not taken yet.
    private var coming = 0
    /// What a piece did that ran alone, and what one did that ran beside others, is seen by those that may rely on it.
    private let afterExclusive = Edge()
    private let afterShared = Edge()

    init(_ name: String, width: Int, on stage: Stage) {
        self.name = name
        self.width = width
        self.stage = stage
        stage.lines.append(self)
    }

    var hasJobs: Bool { !jobs.isEmpty }

    /// Takes a piece of work; by who has the turn.
    func submit(_ job: Job) {
        jobs.append(job)
        stir()
    }

    /// How many of the pieces that wait could start now.
    private var startable: Int {
        guard let first = jobs.first, !isExclusive else { return 0 }
        if first.isBarrier { return active == 0 ? 1 : 0 }
        return min(jobs.prefix { !$0.isBarrier }.count, width - active)
    }

    /// Wakes lanes for the pieces that could start.
    private func stir() {
        let wanted = startable
        while coming < wanted {
            if let idle = workers.first(where: { $0.state == .idle }) {
                stage.wake(idle)
            } else if workers.count < width {
                let lane = width == 1 ? name : "\(name) #\(workers.count + 1)"
                guard let worker = stage.add(lane, line: self, { [unowned self] in serve() }) else { return }
                workers.append(worker)
            } else {
                return
            }
            coming += 1
        }
    }

    /// Whether a lane that has come to its end is to begin anew. (Whoever submits wakes those that are idle.)
    func hasTurnFor(_ lane: Lane) -> Bool {
        guard startable > coming else { return false }
        coming += 1
        return true
    }

    private func serve() {
        Unseen.begin()
        let lane = LaneThread.current!.lane!
        coming -= 1
        let job = startable > 0 ? jobs.removeFirst() : nil
        if let job {
            active += 1
            isExclusive = job.isBarrier
            lane.running.append(
                .init(line: self, isExclusive: job.isBarrier || width == 1, caller: job.caller))
            stage.chronicle?.add(lane, .begins(name))
        }
        Unseen.end()
        guard let job else { return }
        run(job)
        Unseen.begin()
        lane.running.removeLast()
        active -= 1
        isExclusive = false
        stir()
        Unseen.end()
    }

    private func run(_ job: Job) {
        job.edge.follow()
        afterExclusive.follow()
        if job.isBarrier || width == 1 {
            afterShared.follow()
            job.run()
            afterExclusive.precede()
        } else {
            job.run()
            afterShared.precede()
        }
    }

    /// Gives up what has not begun, for the caller to let go of where the sanitizer looks.
    func close() -> [Job] {
        defer { (jobs, workers) = ([], []) }
        return jobs
    }
}
