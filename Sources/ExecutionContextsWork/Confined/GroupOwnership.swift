internal import ExecutionContexts
internal import Synchronization

/// The thread that runs the jobs of a group, and the jobs that were left to it.
///
/// A serial context runs one job at a time, but it may drop a job on any thread, beside its jobs.
/// The answer to a dropped job must not run beside a job of the group. So a thread that runs a job
/// or an answer of the group owns it, and a thread that finds it owned leaves its job:
///
/// | left | run by |
/// |---|---|
/// | the answer of a dropped job | the owner, after its job |
/// | a job on the context, during an answer | the context, in a job that the owner submits |
///
/// No thread waits, and nothing runs inside the section (law 9).
final class GroupOwnership: @unchecked Sendable {
    // Unchecked, also at run time: both queues are accessed inside `section` only.
    private let section = CriticalSection(name: "jobs that were left")
    @exclusivity(unchecked) private var answers = WorkQueue()
    @exclusivity(unchecked) private var jobs = FIFO<ConfinedJob>()

    private let state = Atomic<State>(.free)
    /// The values of `state`. It leaves the last two inside `section` only.
    private enum State: UInt8, AtomicRepresentable {
        case free, owned
        /// Owned, and something was left.
        case ownedWithMore
        /// Free, and jobs wait for the context.
        case freeWithMore
    }

    /// What the owner does next.
    enum Next {
        /// Calls this work, which was left.
        case call(Work)
        /// Nothing: it is no longer the owner. If jobs wait, it submits one that fetches them.
        case isOver(jobsWait: Bool)
    }

    /// Takes ownership; false if another thread has it, or if earlier jobs wait.
    func take() -> Bool {
        SimulationHooks.point()
        // Acquiring: the new owner sees what the last one did.
        return state.compareExchange(expected: .free, desired: .owned, ordering: .acquiring)
            .exchanged
    }

    /// Leaves a job: one of the context, after those left before, or one that it dropped. True if
    /// the caller now owns the group, and must call `next`.
    ///
    /// The job is moved out, so that its submitter does not free it (law 10).
    func leave(_ job: inout ConfinedJob?, _ refusal: Refusal?) -> Bool {
        section.execute {
            if let job = job.take() {
                if let refusal {
                    unsafe answers.append { job(refusal) }
                } else {
                    unsafe jobs.append(job)
                }
            }
            // No scheduling point: the entry into the section was one. Acquiring and releasing: as
            // in `take`, and an owner that ends enters the section.
            let old = state.exchange(.ownedWithMore, ordering: .acquiringAndReleasing)
            return old == .free || old == .freeWithMore
        }
    }

    /// Returns what the owner calls next, or ends its ownership. Only the context gets jobs.
    func next(isOnContext: Bool) -> Next {
        SimulationHooks.point()
        // Releasing, here and below: the next owner sees what this one did.
        if state.compareExchange(expected: .owned, desired: .free, ordering: .releasing).exchanged {
            return .isOver(jobsWait: false)
        }
        return section.execute {
            if let answer = unsafe answers.popFirst() { return .call(answer) }
            if isOnContext, let job = unsafe jobs.popFirst() { return .call { job(nil) } }
            let jobsWait = unsafe !jobs.isEmpty
            state.store(jobsWait ? .freeWithMore : .free, ordering: .releasing)
            return .isOver(jobsWait: jobsWait)
        }
    }

    /// Turns the jobs that wait for the context into answers, since it dropped the job that should
    /// fetch them. Called by the owner.
    func drop(_ refusal: Refusal) {
        section.execute {
            while let job = unsafe jobs.popFirst() { unsafe answers.append { job(refusal) } }
        }
    }
}
