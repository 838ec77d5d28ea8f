/// Looks for an order of calls, one at a time, that explains their answers: each within its begin and end.
///
/// It goes through the begins and ends as they came. Nothing is done at a begin. At the end of a call that has no place in
/// the order yet, that call gets the next place, or others that have begun get theirs before it: so no call is placed before
/// it must be. All choices are tried, the first one to its end first, and none from a situation that was met before.
struct Linearization<Model: SequentialModel> {
    enum Verdict {
        case explained
        /// The calls that come to this end, the last of the events that any order reaches, cannot be explained.
        case stuck(at: Int)
        case gaveUp
    }

    /// What has been done: the calls with a place whose end is still to come, and what the model has come to.
    struct Situation {
        var event = 0
        var placed: [Int] = []
        var state: Model
    }

    private struct Known: Hashable {
        let event: Int
        let placed: [Int]
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
    /// How many operations of the model may be tried yet.
    private(set) var budget: Int
    /// The events in their order: the index of a call for its end, and of those that are under way then.
    private let ends: [(call: Int, open: [Int])]
    /// The shortest of the orders that lead to the furthest event, where that is kept.
    private(set) var furthest: [Int] = []
    private var furthestEvent = -1
    /// The situations in which orders of all calls end, where it is asked whether there is only one: at most two.
    private(set) var outcomes: [Situation] = []

    init(_ calls: [RecordedCall<Model>], from initial: Model, budget: Int) {
        self.calls = calls
        self.initial = initial
        self.budget = budget
        ends = Self.ends(of: calls)
    }

    /// The ends in their order, each with the calls that are under way: those that return first, then the unanswered.
    private static func ends(of calls: [RecordedCall<Model>]) -> [(call: Int, open: [Int])] {
        let byEnd = calls.indices.filter { calls[$0].answer != nil }.sorted { calls[$0].end < calls[$1].end }
        var begun = 0
        var answered: [Int] = []
        var unanswered: [Int] = []
        return byEnd.map { index in
            while begun < calls.count && calls[begun].begin < calls[index].end {
                if calls[begun].answer == nil { unanswered.append(begun) } else { answered.append(begun) }
                begun += 1
            }
            answered.removeAll { $0 == index }
            return (index, answered.sorted { calls[$0].end < calls[$1].end } + unanswered)
        }
    }

    /// Tries orders until one explains everything; or until there are two outcomes.
    mutating func search(keepingOrder: Bool = false, wantingOutcomes: Bool = false) -> Verdict {
        var known: Set<Known> = []
        var order: [Int] = []
        var branches: [Branch] = []
        /// Passes the ends of calls that have a place; false where there is none left.
        func pass(_ situation: inout Situation) -> Bool {
            while situation.event < ends.count {
                guard let place = situation.placed.firstIndex(of: ends[situation.event].call) else {
                    return true
                }
                situation.placed.remove(at: place)
                situation.event += 1
            }
            return false
        }
        func branch(_ situation: Situation) -> Branch {
            let (call, open) = ends[situation.event]
            let others = open.filter { !situation.placed.contains($0) }
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
            // A state that nobody needs any more is not copied when it changes.
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
                // Whether it took effect or not makes no difference.
                continue
            }
            order.append(index)
            situation.placed.insert(
                index, at: situation.placed.firstIndex { $0 > index } ?? situation.placed.endIndex)
            guard pass(&situation) else {
                note(situation, order, keepingOrder)
                if !wantingOutcomes { return .explained }
                if let state = situation.state as? AnyHashable {
                    let end = Known(event: situation.event, placed: situation.placed, state: state)
                    guard known.insert(end).inserted else { continue }
                }
                outcomes.append(situation)
                if outcomes.count > 1 { return .explained }
                continue
            }
            let next = branch(situation)
            if hasChoice || next.candidates.count > 1, let state = situation.state as? AnyHashable {
                let reached = Known(event: situation.event, placed: situation.placed, state: state)
                guard known.insert(reached).inserted else { continue }
            }
            note(situation, order, keepingOrder)
            branches.append(next)
        }
        return outcomes.isEmpty ? .stuck(at: furthestEvent) : .explained
    }

    private mutating func note(_ situation: Situation, _ order: [Int], _ keepingOrder: Bool) {
        guard situation.event >= furthestEvent else { return }
        if keepingOrder, situation.event > furthestEvent || order.count < furthest.count { furthest = order }
        furthestEvent = situation.event
    }

    /// The call that ends at an event.
    func call(endingAt event: Int) -> RecordedCall<Model> { calls[ends[event].call] }
}
