import ExecutionContextsTesting
import TestSupport
import Testing

/// The checker agrees with a brute-force search on small histories.
struct BruteForceTests {
    private struct Entry {
        let operation: Int
        let answer: Int?
        let begin: Int
        let end: Int
    }

    /// A small random history, whose answers are right for some order, or nearly so.
    private static func entries<Model: SequentialModel>(
        _ model: Model, _ operations: [Model.Operation], _ random: inout some RandomNumberGenerator
    ) -> (
        events: [(index: Int, isEnd: Bool)], operations: [Model.Operation], answers: [Model.Answer?]
    ) {
        let count = Int.random(in: 1...5, using: &random)
        let chosen = (0..<count).map { _ in operations.randomElement(using: &random)! }
        var events: [(Int, Bool)] = []
        for index in 0..<count {
            let begin = Int.random(in: 0...events.count, using: &random)
            events.insert((index, false), at: begin)
            let end = Int.random(in: begin + 1...min(begin + 3, events.count), using: &random)
            events.insert((index, true), at: end)
        }
        var answers: [Model.Answer?] = Array(repeating: nil, count: count)
        var state = model
        for index in (0..<count).shuffled(using: &random)
        where Int.random(in: 0..<6, using: &random) > 0 {
            answers[index] = state.apply(chosen[index])
        }
        events.removeAll { $0.1 && answers[$0.0] == nil }
        return (events, chosen, answers)
    }

    /// Whether some order explains the answers. Operations without an answer may be left out.
    private static func hasOrder<Model: SequentialModel>(
        _ state: Model, _ done: Set<Int>, _ events: [(index: Int, isEnd: Bool)],
        _ operations: [Model.Operation], _ answers: [Model.Answer?]
    ) -> Bool {
        let left = operations.indices.filter { !done.contains($0) }
        if left.allSatisfy({ answers[$0] == nil }) { return true }
        func precedes(_ first: Int, _ second: Int) -> Bool {
            guard let end = events.firstIndex(where: { $0 == (first, true) }) else { return false }
            return end < events.firstIndex { $0 == (second, false) }!
        }
        return left.contains { next in
            if left.contains(where: { $0 != next && precedes($0, next) }) { return false }
            var state = state
            let answer = state.apply(operations[next])
            if let wanted = answers[next], wanted != answer { return false }
            return hasOrder(state, done.union([next]), events, operations, answers)
        }
    }

    private func compare<Model: SequentialModel>(
        _ model: Model, _ operations: [Model.Operation], seed: UInt64
    ) {
        var random = SeededRNG(seed: seed)
        var verdicts = [true: 0, false: 0]
        for _ in 0..<rounds(debug: 800, release: 1_500) {
            let (events, chosen, answers) = Self.entries(model, operations, &random)
            let history = History(of: model)
            var calls: [Int: History<Model>.Call] = [:]
            for (index, isEnd) in events {
                if isEnd {
                    calls[index]!.end(answers[index]!)
                } else {
                    calls[index] = history.begin(chosen[index], by: "\(index)")
                }
            }
            let expected = Self.hasOrder(model, [], events, chosen, answers)
            let found = (try? expectLinearizable(history)) != nil
            verdicts[found]! += 1
            #expect(found == expected, "\(events) \(chosen) \(answers)")
        }
        #expect(verdicts[true]! > 100 && verdicts[false]! > 100, "\(verdicts)")
    }

    @Test(arguments: seeds(debug: 1, release: 3))
    func `The checker agrees with a search of every order`(seed: UInt64) {
        compare(RegisterModel(), [.read, .read, .write(1), .write(2)], seed: seed)
        compare(QueueModel(), [.enqueue(1), .enqueue(2), .dequeue, .dequeue], seed: seed)
        compare(StackModel(), [.push(1), .push(2), .pop, .pop], seed: seed)
        compare(Unhashable(CounterModel()), [0, 1, 2], seed: seed)
    }
}
