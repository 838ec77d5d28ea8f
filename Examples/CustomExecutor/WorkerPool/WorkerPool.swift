import ExecutionContexts
import Foundation

/// A fixed number of threads that share two lines of work, a normal one and an urgent one.
///
/// Pieces of one line start in the order of submission, and run beside each other on the threads. `urgent` is the same
/// pool for work that goes ahead of the rest.
///
/// It ends when it is shut down, or when the last copy is gone: what was accepted still runs, then the threads end.
/// After a shutdown `tryExecute` throws, `run` and `submit` answer with the refusal, and plain `execute`, which has
/// no way to say no, stops the program (law 1).
struct WorkerPool: RefusingContext {
    let name: String
    private let owner: Owner
    private let urgency: Urgency

    /// Starts `threadCount` threads. A pool without threads could never run anything, and stops the program.
    init(name: String, threadCount: Int) {
        if threadCount < 1 {
            fatalError("The pool '\(name)' was given \(threadCount) threads: it needs 1 or more.")
        }
        let workshop = Workshop()
        self.init(name: name, owner: Owner(workshop), urgency: .normal)
        for index in 1...threadCount { workshop.startThread(name: "\(name) \(index)") }
    }

    private init(name: String, owner: Owner, urgency: Urgency) {
        self.name = name
        self.owner = owner
        self.urgency = urgency
    }

    /// This pool, for work that goes ahead of the rest.
    var urgent: WorkerPool { WorkerPool(name: name, owner: owner, urgency: .urgent) }

    /// Accepts no more work. What was accepted runs; then the threads end.
    func shutDown() { owner.workshop.close() }

    /// Waits until the threads have ended, which they do after a shutdown. It blocks its thread.
    func waitForThreads() {
        if isCurrent == true {
            fatalError("The pool '\(name)' was to wait on one of its threads for their end.")
        }
        owner.workshop.waitForThreads()
    }

    /// The copies of a pool share one of these, so that it dies with the last of them. The threads do not hold it.
    private final class Owner: Sendable {
        let workshop: Workshop
        init(_ workshop: Workshop) { self.workshop = workshop }
        deinit { workshop.close() }
    }
}

// Being a context.
extension WorkerPool {
    /// Takes `work`, or throws because the pool has been shut down.
    func tryExecute(_ work: @escaping Work) throws(Refusal) {
        if !owner.workshop.accept(work, urgency) { throw Refusal(.shutDown, by: name) }
    }

    func execute(_ work: @escaping Work) {
        do { try tryExecute(work) } catch {
            fatalError("\(error) Plain execute cannot be refused: use tryExecute or run.")
        }
    }

    // What `run` and `submit` come by: they have somebody to tell.
    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        do { try tryExecute(work) } catch { refused(error) }
    }

    // What has been accepted already comes by this, in its turn: a delay that is due, the next piece of a serial view.
    // It is not refused (law 8).
    func enqueue(_ work: @escaping Work) { owner.workshop.admit(work, urgency) }

    /// Yes on a thread of the pool that runs its work, no elsewhere (law 4).
    var isCurrent: Bool? { owner.workshop.isCurrent }

    /// Nothing tells its threads apart, so one that waits for a piece of work may run it.
    var runsAnywhere: Bool { true }
}
