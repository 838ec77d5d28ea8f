extension Recording {
    /// What can be told of each lane in numbers, by name.
    var totals: [RecordedTotals] {
        var places = [[Int]](repeating: [], count: lanes.count)
        for place in pieces.indices { places[pieces[place].lane].append(place) }
        return lanes.indices.map { totals(of: $0, places[$0].map { pieces[$0].facts }) }
            .sorted { $0.context < $1.context }
    }

    private func totals(of lane: Int, _ facts: [RecordedPiece]) -> RecordedTotals {
        func count(_ state: RecordedPiece.State) -> Int { facts.count { $0.state == state } }
        let longest = facts.max { ($0.ran ?? .zero) < ($1.ran ?? .zero) }
        return RecordedTotals(
            context: lanes[lane].name, isAsync: lanes[lane].isValue, count: facts.count,
            waiting: count(.waiting), running: count(.running), abandoned: count(.abandoned),
            waits: Percentiles(
                nanoseconds: facts.compactMap { $0.started == nil ? nil : $0.waited?.saturatedNanoseconds }),
            runs: Percentiles(nanoseconds: facts.compactMap { $0.ran?.saturatedNanoseconds }),
            longest: longest?.ran == nil ? nil : longest?.id, greatestDepth: lanes[lane].greatestDepth)
    }
}
