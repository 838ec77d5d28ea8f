internal import ExecutionContexts

/// The number of waiting jobs of a context from an instant on.
struct TraceDepth {
    let lane: Int
    let instant: Int64
    var count: Int
}

extension Recording {
    /// The number of waiting jobs of a context over time.
    ///
    /// It has the greatest and the last value of each thousandth of the recording, as much as a
    /// screen can show.
    func depths(_ lane: Int, of members: [Int]) -> [TraceDepth] {
        let steps = depthSteps(lane, of: members)
        let span = spans[lanes[lane].clock]
        let width = max((span.upperBound - span.lowerBound) / 1_000, 1)
        var shown: [TraceDepth] = []
        var index = 0
        while index < steps.count {
            var (greatest, last) = (steps[index], steps[index])
            let part = last.instant / width
            while index < steps.count, steps[index].instant / width == part {
                last = steps[index]
                if last.count > greatest.count { greatest = last }
                index += 1
            }
            if greatest.instant < last.instant { shown.append(greatest) }
            shown.append(last)
        }
        return shown
    }

    /// The number of waiting jobs from each instant on at which it changes.
    private func depthSteps(_ lane: Int, of members: [Int]) -> [TraceDepth] {
        var changes: [(instant: Int64, by: Int)] = []
        for index in members {
            let facts = jobs[index].facts
            let from = since(facts.enqueued, index)
            let until = (facts.started ?? facts.ended).map { since($0, index) }
            // A hand-made report may claim a start before the submission.
            if let until, until <= from { continue }
            changes.append((from, 1))
            if let until { changes.append((until, -1)) }
        }
        changes.sort { $0.instant < $1.instant }
        var steps: [TraceDepth] = []
        for change in changes {
            let count = (steps.last?.count ?? 0) + change.by
            if steps.last?.instant == change.instant {
                steps[steps.count - 1].count = count
            } else {
                steps.append(TraceDepth(lane: lane, instant: change.instant, count: count))
            }
        }
        return steps
    }
}
