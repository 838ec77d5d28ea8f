/// Checks a history, and shrinks a failure as far as is cheap.
struct HistoryCheck<Model: SequentialModel> {
    let model: Model
    /// How many operations of the model may be tried.
    let limit: Int

    /// The failure of these calls, if any. Each group of calls concerns a separate structure.
    func failure(of groups: [[RecordedCall<Model>]]) -> HistoryFailure? {
        var budget = limit
        for calls in groups {
            var search = Linearization(calls, from: model, budget: budget)
            switch search.search() {
            case .explained: budget = search.budget
            case .gaveUp: return .tooMuchWork(limit, operations: calls.count, "\(Model.self)")
            case .stuck(let event):
                return report(
                    Witness(calls, upTo: search.call(endingAt: event), from: model, limit: limit))
            }
        }
        return nil
    }

    private func report(_ witness: Witness) -> HistoryFailure {
        var witness = witness
        witness.trimBeginning()
        witness.dropAnswers()
        return witness.failure(limit: limit)
    }

    /// Calls without an explaining order, and the model's state at their beginning.
    private struct Witness {
        /// The calls as they were recorded, for the drawing.
        private var recorded: [RecordedCall<Model>]
        /// The calls under check, without the irrelevant answers.
        private var calls: [RecordedCall<Model>]
        private var start: Model
        private var hasBeginning = true
        private var last: RecordedCall<Model>

        /// Takes the calls up to the first end at which there is no order; calls that end later
        /// count as not returned.
        ///
        /// That end belongs to the call at which the search got stuck, or to a concurrent call
        /// whose answer is relevant.
        init(
            _ all: [RecordedCall<Model>], upTo stuck: RecordedCall<Model>, from model: Model,
            limit: Int
        ) {
            start = model
            let begun = all.filter { $0.begin < stuck.end }
            let ends = begun.filter { $0.end >= stuck.end && $0.answer != nil }.sorted {
                $0.end < $1.end
            }
            (recorded, calls, last) = (begun, begun, stuck)
            for end in ends {
                let prefix = begun.map { $0.end > end.end ? $0.unanswered : $0 }
                guard isStuck(prefix, from: model, budget: limit) else { continue }
                (recorded, calls, last) = (prefix, prefix, end)
                break
            }
        }

        private func isStuck(_ calls: [RecordedCall<Model>], from start: Model, budget: Int) -> Bool
        {
            var search = Linearization(calls, from: start, budget: budget)
            if case .stuck = search.search() { return true }
            return false
        }

        /// Starts at the last moment at which no call was under way, if the model has only one
        /// possible state there.
        mutating func trimBeginning() {
            guard calls.count > 12 else { return }
            var latestEnd = -1
            var moment: Int?
            for call in calls {
                if call.begin > latestEnd && latestEnd >= 0 { moment = call.begin }
                if call.answer != nil { latestEnd = max(latestEnd, call.end) }
            }
            guard let moment else { return }
            let before = calls.filter { $0.begin < moment }
            var search = Linearization(before, from: start, budget: 50_000)
            guard case .explained = search.search(wantingOutcomes: true),
                search.outcomes.count == 1,
                let outcome = search.outcomes.first
            else { return }
            let pending = before.indices.filter {
                before[$0].answer == nil && !outcome.linearized.contains($0)
            }
            let rest = pending.map { before[$0] } + calls.filter { $0.begin >= moment }
            guard isStuck(rest, from: outcome.state, budget: 50_000) else { return }
            (calls, start, hasBeginning) = (rest, outcome.state, false)
        }

        /// Drops answers without which there is still no order: those calls may then have taken
        /// effect or not.
        mutating func dropAnswers() {
            guard calls.count <= 64 else { return }
            for index in calls.indices
            where calls[index].answer != nil && calls[index].number != last.number {
                var fewer = calls
                fewer[index] = calls[index].unanswered
                if isStuck(fewer, from: start, budget: 2_000) { calls = fewer }
            }
        }

        func failure(limit: Int) -> HistoryFailure {
            var search = Linearization(calls, from: start, budget: limit)
            guard case .stuck(let event) = search.search(keepingOrder: true) else {
                return .tooMuchWork(limit, operations: calls.count, "\(Model.self)")
            }
            let stuck = search.call(endingAt: event)
            let order = search.furthest.map { calls[$0] }
            let shown = Set(calls.filter { $0.answer != nil }.map(\.number) + order.map(\.number))
            var state = start
            for call in order { _ = state.apply(call.operation) }
            let wanted = state.apply(stuck.operation)
            var lines = [
                "No sequential order explains the answers of these operations (\(Model.self)):"
            ]
            if !hasBeginning { lines.append("  They began with \(start).") }
            let drawn = recorded.filter { shown.contains($0.number) }
            let rows = HistoryDrawing(drawn).lines
            lines += rows.map { "  " + $0 }
            let earlier = order.map { "\($0.caller): \($0.operation)" }.joined(separator: ", ")
            let steps = order.isEmpty ? "" : "After \(earlier), then "
            lines.append(
                "\(steps)\(stuck.caller): \(stuck.operation) must answer \(plain(wanted)), but answered "
                    + "\(stuck.answer.map(plain) ?? "nothing"). No other order gets further.")
            let others = recorded.count - drawn.count
            if others > 0 {
                let operations =
                    others == 1 ? "1 operation that changes" : "\(others) operations that change"
                lines.append("Not shown: \(operations) nothing about this.")
            }
            return HistoryFailure(
                kind: .notLinearizable, threads: rows, description: lines.joined(separator: "\n"))
        }
    }
}
