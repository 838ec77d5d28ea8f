internal import ExecutionContexts

extension Recording {
    /// The statistics of each lane, sorted by name.
    var totals: [RecordedTotals] {
        var indexes = [[Int]](repeating: [], count: lanes.count)
        for index in jobs.indices { indexes[jobs[index].lane].append(index) }
        return lanes.indices.map { totals(of: $0, indexes[$0].map { jobs[$0].facts }) }
            .sorted { $0.context < $1.context }
    }

    private func totals(of lane: Int, _ facts: [RecordedJob]) -> RecordedTotals {
        func count(_ state: RecordedJob.State) -> Int { facts.count { $0.state == state } }
        let longest = facts.max { ($0.ran ?? .zero) < ($1.ran ?? .zero) }
        return RecordedTotals(
            context: lanes[lane].name, isAsync: lanes[lane].isAsync, count: facts.count,
            waiting: count(.waiting), running: count(.running), abandoned: count(.abandoned),
            waits: RecordedTotals.Percentiles(
                nanoseconds: facts.compactMap {
                    $0.started == nil ? nil : $0.waited?.nanoseconds
                }),
            runs: RecordedTotals.Percentiles(nanoseconds: facts.compactMap { $0.ran?.nanoseconds }),
            longest: longest?.ran == nil ? nil : longest?.id,
            greatestDepth: lanes[lane].greatestDepth)
    }
}
