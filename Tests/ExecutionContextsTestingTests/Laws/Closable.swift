import Dispatch
import ExecutionContexts
import Foundation

/// A context with a shutdown that is also a task executor; after the shutdown it has one fault.
final class Closable: RefusingContext, TaskExecutor, @unchecked Sendable {
    // Unchecked: `isClosed` and `kept` are reached only under `lock`.

    enum Fault: String, CaseIterable, Sendable {
        case none
        /// Drops the jobs that are queued at the shutdown.
        case drops
        /// Does not return from its shutdown.
        case hangs
        /// Neither runs nor refuses a job.
        case isSilent
        /// Drops the drains and delays that come by `enqueue`.
        case dropsEnqueued
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
        if fault == .dropsEnqueued && hasEnded { return }
        submit(work)
    }

    /// The requirement of `TaskExecutor`, by which the jobs of tasks come.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if fault == .dropsJobs && hasEnded { return }
        submit { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func submit(_ work: @escaping Work) {
        queue.async { [self] in
            // A job that was queued at the shutdown is dropped.
            if fault == .drops && hasEnded { return }
            work()
        }
    }

    /// Closures that are never called.
    private var kept: [Any] = []

    private func keep(_ work: @escaping Work, _ refused: @escaping @Sendable (Refusal) -> Void) {
        lock.withLock { kept.append((work, refused)) }
    }

    var name: String { "broken" }
}
