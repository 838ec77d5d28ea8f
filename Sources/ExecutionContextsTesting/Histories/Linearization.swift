/// Looks for an order of calls that explains their answers, each call between its beginning and its
/// end.
///
/// It handles the beginnings and ends in their recorded order:
///
/// 1. At a beginning it does nothing.
/// 2. At the end of a call that is not yet linearized, it linearizes that call next, or first other
///    calls that have begun. So no call is linearized before it must be.
/// 3. It tries all choices depth first, and continues from no situation that it has reached before.
struct Linearization<Model: SequentialModel> {
    enum Verdict {
        case explained
        /// No order of the calls gets beyond the end of the call at this event, the last one that
        /// any order reaches.
        case stuck(at: Int)
        case gaveUp
    }

    /// A point of the search: the linearized calls whose end is still to come, and the state of the
    /// model.
    struct Situation {
        var event = 0
        var linearized: [Int] = []
        var state: Model
    }

    private struct Known: Hashable {
        let event: Int
        let linearized: [Int]
        let state: AnyHashable
    }

    private struct Branch {
        var situation: Situation
        let candidates: [Int]
        var next = 0
        let depth: Int
    }

    let calls: [RecordedCall<Model>]
    private let initial: Model
    /// How many more operations of the model may be tried.
    private(set) var budget: Int
    /// The ends in their order: the index of the call, and the calls that are under way then.
    private let ends: [(call: Int, open: [Int])]
    /// The shortest order that leads to the furthest event, if the search keeps it.
    private(set) var furthest: [Int] = []
    private var furthestEvent = -1
    /// The final situations of orders of all calls, if the search collects them: at most two.
    private(set) var outcomes: [Situation] = []

    init(_ calls: [RecordedCall<Model>], from initial: Model, budget: Int) {
        self.calls = calls
        self.initial = initial
        self.budget = budget
        ends = Self.ends(of: calls)
    }

    /// The ends in their order, each with the calls under way: first by their end, then those that
    /// have not returned.
    private static func ends(of calls: [RecordedCall<Model>]) -> [(call: Int, open: [Int])] {
        let byEnd = calls.indices.filter { calls[$0].answer != nil }.sorted {
            calls[$0].end < calls[$1].end
        }
        var begun = 0
        var answered: [Int] = []
        var unanswered: [Int] = []
        return byEnd.map { index in
            while begun < calls.count && calls[begun].begin < calls[index].end {
                if calls[begun].answer == nil {
                    unanswered.append(begun)
                } else {
                    answered.append(begun)
                }
                begun += 1
            }
            answered.removeAll { $0 == index }
            return (index, answered.sorted { calls[$0].end < calls[$1].end } + unanswered)
        }
    }

    /// Tries orders until one explains all answers, or until there are two outcomes.
    mutating func search(keepingOrder: Bool = false, wantingOutcomes: Bool = false) -> Verdict {
        var known: Set<Known> = []
        var order: [Int] = []
        var branches: [Branch] = []
        /// Skips the ends of linearized calls; returns false if no end is left.
        func pass(_ situation: inout Situation) -> Bool {
            while situation.event < ends.count {
                guard let position = situation.linearized.firstIndex(of: ends[situation.event].call)
                else {
                    return true
                }
                situation.linearized.remove(at: position)
                situation.event += 1
            }
            return false
        }
        func branch(_ situation: Situation) -> Branch {
            let (call, open) = ends[situation.event]
            let others = open.filter { !situation.linearized.contains($0) }
            return Branch(situation: situation, candidates: [call] + others, depth: order.count)
        }
        var first = Situation(state: initial)
        guard pass(&first) else {
            outcomes = [first]
            return .explained
        }
        branches.append(branch(first))
        note(first, order, keepingOrder)
        while var current = branches.popLast() {
            order.removeLast(order.count - current.depth)
            let index = current.candidates[current.next]
            current.next += 1
            var situation = current.situation
            let hasChoice = current.candidates.count > 1
            // A state without another reference is not copied when it changes.
            if current.next < current.candidates.count {
                branches.append(current)
            }
            current.situation.state = initial
            if budget == 0 { return .gaveUp }
            budget -= 1
            let before = calls[index].answer == nil ? situation.state as? AnyHashable : nil
            let answer = situation.state.apply(calls[index].operation)
            if let wanted = calls[index].answer {
                guard answer == wanted else { continue }
            } else if let before, situation.state as? AnyHashable == before {
                // Whether the call took effect makes no difference.
                continue
            }
            order.append(index)
            situation.linearized.insert(
                index,
                at: situation.linearized.firstIndex { $0 > index } ?? situation.linearized.endIndex)
            guard pass(&situation) else {
                note(situation, order, keepingOrder)
                if !wantingOutcomes { return .explained }
                if let state = situation.state as? AnyHashable {
                    let end = Known(
                        event: situation.event, linearized: situation.linearized, state: state)
                    guard known.insert(end).inserted else { continue }
                }
                outcomes.append(situation)
                if outcomes.count > 1 { return .explained }
                continue
            }
            let next = branch(situation)
            if hasChoice || next.candidates.count > 1, let state = situation.state as? AnyHashable {
                let reached = Known(
                    event: situation.event, linearized: situation.linearized, state: state)
                guard known.insert(reached).inserted else { continue }
            }
            note(situation, order, keepingOrder)
            branches.append(next)
        }
        return outcomes.isEmpty ? .stuck(at: furthestEvent) : .explained
    }

    private mutating func note(_ situation: Situation, _ order: [Int], _ keepingOrder: Bool) {
        guard situation.event >= furthestEvent else { return }
        if keepingOrder, situation.event > furthestEvent || order.count < furthest.count {
            furthest = order
        }
        furthestEvent = situation.event
    }

    /// The call that ends at an event.
    func call(endingAt event: Int) -> RecordedCall<Model> { calls[ends[event].call] }
}
