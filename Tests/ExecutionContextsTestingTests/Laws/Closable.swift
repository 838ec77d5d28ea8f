import Dispatch
import ExecutionContexts
import Foundation

/// A context that can end, and is a task executor itself; after its end it does one thing wrong.
final class Closable: RefusingContext, TaskExecutor, @unchecked Sendable {
    // Unchecked: `isClosed` is reached only under `lock`.

    enum Fault: String, CaseIterable, Sendable {
        case none
        /// Loses what waits when it ends.
        case drops
        /// Does not come back from its end.
        case hangs
        /// Neither runs nor refuses.
        case isSilent
        /// Refuses turns and delays that it has accepted already.
        case dropsTurns
        /// Drops the jobs of tasks.
        case dropsJobs

        var law: Int? { self == .none ? nil : self == .dropsJobs ? 13 : 1 }
    }

    private let fault: Fault
    private let queue = DispatchQueue(label: "closable")
    private let lock = NSLock()
    private var isClosed = false

    init(_ fault: Fault) { self.fault = fault }

    private var hasEnded: Bool { lock.withLock { isClosed } }

    func shutDown() {
        lock.withLock { isClosed = true }
        if fault == .hangs { DispatchSemaphore(value: 0).wait() }
    }

    func tryExecute(_ work: @escaping Work) throws(Refusal) {
        if hasEnded { throw Refusal(.shutDown, by: name) }
        submit(work)
    }

    func execute(_ work: @escaping Work) { submit(work) }

    func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        if hasEnded && fault == .isSilent { return keep(work, refused) }
        do { try tryExecute(work) } catch { refused(error) }
    }

    func enqueue(_ work: @escaping Work) {
        if fault == .dropsTurns && hasEnded { return }
        submit(work)
    }

    /// An executor's side, by which the jobs of tasks come.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if fault == .dropsJobs && hasEnded { return }
        submit { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func submit(_ work: @escaping Work) {
        queue.async { [self] in
            // What waited at the end is lost.
            if fault == .drops && hasEnded { return }
            work()
        }
    }

    /// Closures that nobody will ever call.
    private var kept: [Any] = []

    private func keep(_ work: @escaping Work, _ refused: @escaping @Sendable (Refusal) -> Void) {
        lock.withLock { kept.append((work, refused)) }
    }

    var name: String { "broken" }
}
