import ExecutionContexts
import Foundation

/// A fixed number of threads that share two queues of jobs, a normal one and an urgent one.
///
/// Jobs of one queue start in the order of submission, and run concurrently. `urgent` is the same
/// pool for jobs that run before the others.
///
/// The pool ends when it is shut down, or when its last copy is released. Its threads run the
/// accepted jobs before they end. After a shutdown `tryExecute` throws, `run` and `submit` fail
/// with the refusal, and plain `execute` traps with a message, as it cannot report one (law 1).
struct WorkerPool: RefusingContext {
    let name: String
    private let owner: Owner
    private let urgency: Urgency

    /// Starts `threadCount` threads. Traps if there are none, because no job could ever run.
    init(name: String, threadCount: Int) {
        if threadCount < 1 {
            fatalError("The pool '\(name)' has \(threadCount) threads: it needs 1 or more.")
        }
        let core = WorkerPoolCore()
        self.init(name: name, owner: Owner(core), urgency: .normal)
        for index in 1...threadCount { core.startThread(name: "\(name) \(index)") }
    }

    private init(name: String, owner: Owner, urgency: Urgency) {
        self.name = name
        self.owner = owner
        self.urgency = urgency
    }

    /// This pool, for jobs that run before the others.
    var urgent: WorkerPool { WorkerPool(name: name, owner: owner, urgency: .urgent) }

    /// Refuses jobs from now on. The threads run the accepted jobs, then they end.
    func shutDown() { owner.core.close() }

    /// Blocks until the threads have ended, which they do after a shutdown.
    func waitForThreads() {
        if isCurrent == true {
            fatalError("A thread of the pool '\(name)' cannot wait until the pool's threads end.")
        }
        owner.core.waitForThreads()
    }

    /// Shared by the copies of a pool, and released with the last one. The threads do not hold it.
    private final class Owner: Sendable {
        let core: WorkerPoolCore
        init(_ core: WorkerPoolCore) { self.core = core }
        deinit { core.close() }
    }
}

// MARK: - ExecutionContext

extension WorkerPool {
    /// Queues `work`, or throws because the pool has been shut down.
    func tryExecute(_ work: @escaping Work) throws(Refusal) {
        if !owner.core.accept(work, urgency) { throw Refusal(.shutDown, by: name) }
    }

    func execute(_ work: @escaping Work) {
        do { try tryExecute(work) } catch {
            fatalError("\(error) Plain execute cannot be refused: use tryExecute or run.")
        }
    }

    // `run` and `submit` call this, because they can report a refusal to their caller.
    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        do { try tryExecute(work) } catch { refused(error) }
    }

    // Jobs that were accepted before arrive here: a delay that is due, the next drain of a serial
    // view. They are not refused (law 8).
    func enqueue(_ work: @escaping Work) { owner.core.admit(work, urgency) }

    /// True on a thread that runs a job of the pool, false elsewhere (law 4).
    var isCurrent: Bool? { owner.core.isCurrent }

    /// The threads are interchangeable, so a thread that waits for a job may run it.
    var runsAnywhere: Bool { true }
}
