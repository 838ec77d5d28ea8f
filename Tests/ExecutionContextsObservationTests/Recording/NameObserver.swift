import ExecutionContexts
import ExecutionContextsObservation

/// Keeps the names of submitted jobs.
final class NameObserver: ContextObserver {
    let all = Box<[String]>([])

    func enqueued(_ job: ObservedWork) { all.withValue { $0.append(job.name) } }

    func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {}

    /// The names since the last call.
    func take() -> [String] { all.withValue { exchange(&$0, with: []) } }
}
