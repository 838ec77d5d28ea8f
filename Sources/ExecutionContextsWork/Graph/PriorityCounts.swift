internal import ExecutionContexts

/// How many subscribers a work item has at each priority.
struct PriorityCounts {
    private var counts: (Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0)

    /// The highest priority of all subscribers; nil if there are none (law 32).
    var highest: WorkPriority? {
        if counts.4 > 0 { return .highest }
        if counts.3 > 0 { return .high }
        if counts.2 > 0 { return .medium }
        if counts.1 > 0 { return .low }
        return counts.0 > 0 ? .lowest : nil
    }

    mutating func add(_ priority: WorkPriority) { change(priority, by: 1) }

    mutating func remove(_ priority: WorkPriority) { change(priority, by: -1) }

    private mutating func change(_ priority: WorkPriority, by step: Int) {
        switch priority {
        case .lowest: counts.0 += step
        case .low: counts.1 += step
        case .medium: counts.2 += step
        case .high: counts.3 += step
        case .highest: counts.4 += step
        }
    }
}
