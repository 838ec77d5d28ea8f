package import ExecutionContexts
package import Foundation

/// Each way to submit a job.
package enum Submission: CaseIterable {
    case execute, call, refused, enqueue, attempt, barrier

    /// Submits `job` this way; returns false if the context does not have this way.
    package func submit(_ job: consuming @escaping Work, to context: any ExecutionContext) -> Bool {
        switch self {
        case .execute: context.execute(consume job)
        case .call: context(consume job)
        case .refused: context.execute(consume job, refused: { _ in })
        case .enqueue: context.enqueue(consume job)
        case .attempt:
            guard let context = context as? any RefusingContext else { return false }
            do { try context.tryExecute(consume job) } catch { return false }
        case .barrier:
            guard let context = context as? any BarrierContext else { return false }
            context.executeBarrier(consume job)
        }
        return true
    }

    /// The threads on which a job, submitted this way to a context over ``Handover``, ran and was
    /// freed; nil if the context does not have this way.
    package func trace(on context: any ExecutionContext) -> (ran: Thread?, freed: Thread?)? {
        let log = Log()
        return submit(log.job(), to: context) ? (log.ran, log.freed) : nil
    }

    /// Written by one thread after another.
    private final class Log: @unchecked Sendable {
        var ran: Thread?
        var freed: Thread?

        /// A job without another reference to its captures.
        func job() -> Work {
            let capture = Capture(self)
            return { capture.log.ran = Thread.current }
        }
    }

    private final class Capture: Sendable {
        let log: Log
        init(_ log: Log) { self.log = log }
        deinit { log.freed = Thread.current }
    }
}
