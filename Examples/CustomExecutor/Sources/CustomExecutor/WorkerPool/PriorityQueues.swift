import ExecutionContexts

/// The queue that a job is submitted to.
enum Urgency: Sendable { case normal, urgent }

/// Two queues of jobs. The urgent one comes first, but not always, to prevent starvation (law 1).
struct PriorityQueues {
    /// After this many urgent jobs in a row, one normal job runs.
    static let urgentLimit = 4

    private var normal = JobQueue()
    private var urgent = JobQueue()
    private var urgentInARow = 0

    mutating func append(_ work: @escaping Work, _ urgency: Urgency) {
        switch urgency {
        case .normal: normal.append(work)
        case .urgent: urgent.append(work)
        }
    }

    mutating func popFirst() -> Work? {
        if urgentInARow < Self.urgentLimit, let work = urgent.popFirst() {
            urgentInARow += 1
            return work
        }
        urgentInARow = 0
        return normal.popFirst() ?? urgent.popFirst()
    }
}
