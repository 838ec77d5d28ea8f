import ExecutionContexts

/// Which line work stands in.
enum Urgency: Sendable { case normal, urgent }

/// Two lines of work. The urgent one goes first, but not always, or the other might wait for ever (law 1).
struct PriorityLines {
    /// After so many urgent pieces in a row one from the normal line has its turn.
    static let patience = 4

    private var normal = Line()
    private var urgent = Line()
    private var urgentInARow = 0

    mutating func append(_ work: @escaping Work, _ urgency: Urgency) {
        switch urgency {
        case .normal: normal.append(work)
        case .urgent: urgent.append(work)
        }
    }

    mutating func popFirst() -> Work? {
        if urgentInARow < Self.patience, let work = urgent.popFirst() {
            urgentInARow += 1
            return work
        }
        urgentInARow = 0
        return normal.popFirst() ?? urgent.popFirst()
    }
}
