/// How one worker divides its time among the queues that have jobs for it.
///
/// While only one queue has jobs, nothing is measured. Else the time of each job is charged to the
/// queue that it came from:
///
/// | both have jobs | shares of the time |
/// | --- | --- |
/// | jobs from outside, jobs of the pool's own jobs | 2 : 1, jobs from outside first |
/// | urgent jobs, all others | 4 : 1 |
/// | all others, low-priority jobs | 8 : 1 |
///
/// A debt is what a queue has to be given before the others, in nanoseconds. It is bounded on both
/// sides, so that a job of seconds does not keep a queue out for seconds.
package struct TimeShares {
    package enum Queue: UInt8 { case own, outside, urgent, lowPriority }

    /// Which queues have jobs.
    package struct Waiting {
        package var own = false
        package var outside = false
        package var urgent = false
        package var lowPriority = false

        package init(
            own: Bool = false, outside: Bool = false, urgent: Bool = false,
            lowPriority: Bool = false
        ) {
            (self.own, self.outside, self.urgent, self.lowPriority) = (
                own, outside, urgent, lowPriority
            )
        }
    }

    /// The largest debt, and the most that a single job is charged.
    package static var quantum: Int64 { 10_000_000 }
    /// How long a worker stays with its own jobs, or with those from outside, where all are short.
    package static var slice: Int64 { 50_000 }

    private var last = Queue.own
    private var lastTime: Int64 = 0
    private var lastBegun = 0
    private var lastWaiting = Waiting()
    private var (debtToOutside, debtToMedium, debtToLowPriority): (Int64, Int64, Int64) = (0, 0, 0)
    private var isServingOutside = false

    package init() {}

    /// Chooses the queue that the next job comes from. At least one has jobs.
    ///
    /// `begun` counts the worker's jobs. If jobs ran that were not chosen here, the time since the
    /// last choice is not charged to any queue.
    package mutating func choose(at now: Int64, begun: Int, from waiting: Waiting) -> Queue {
        if begun > lastBegun + 1 { lastWaiting = Waiting() }
        lastBegun = begun
        charge(at: now, waiting)
        last = next(waiting)
        (lastTime, lastWaiting) = (now, waiting)
        return last
    }

    private mutating func next(_ waiting: Waiting) -> Queue {
        let hasMedium = waiting.own || waiting.outside
        if waiting.lowPriority, !waiting.urgent && !hasMedium || debtToLowPriority >= Self.quantum {
            return .lowPriority
        }
        if waiting.urgent, !hasMedium || debtToMedium < Self.quantum { return .urgent }
        guard waiting.own && waiting.outside else { return waiting.outside ? .outside : .own }
        if isServingOutside ? debtToOutside <= 0 : debtToOutside >= Self.slice {
            isServingOutside.toggle()
        }
        return isServingOutside ? .outside : .own
    }

    private mutating func charge(at now: Int64, _ waiting: Waiting) {
        let passed = max(now - lastTime, 0)
        let elapsed = min(passed, Self.quantum)
        // Outside first where it has jobs anew, unless it has had more than its share a moment ago.
        if !lastWaiting.outside || !lastWaiting.own {
            debtToOutside = min(debtToOutside + elapsed, Self.slice)
            isServingOutside = false
        } else if last == .own {
            // Twice: beside jobs that submit others, a job from outside waits hardly longer than in
            // one common queue.
            debtToOutside = min(debtToOutside + 2 * elapsed, Self.quantum)
        } else if last == .outside {
            debtToOutside = max(debtToOutside - elapsed, -Self.quantum)
        }
        let hasMedium = waiting.own || waiting.outside
        let hadMedium = lastWaiting.own || lastWaiting.outside
        if !(hasMedium && waiting.urgent && hadMedium && lastWaiting.urgent) {
            debtToMedium = 0
        } else if last == .urgent {
            debtToMedium = min(debtToMedium + elapsed / 4, 2 * Self.quantum)
        } else {
            debtToMedium = max(debtToMedium - elapsed, 0)
        }
        if !waiting.lowPriority || !lastWaiting.lowPriority {
            debtToLowPriority = 0
        } else if last == .lowPriority {
            debtToLowPriority = max(debtToLowPriority - elapsed, 0)
        } else {
            debtToLowPriority = min(debtToLowPriority + elapsed / 8, 2 * Self.quantum)
        }
    }
}
