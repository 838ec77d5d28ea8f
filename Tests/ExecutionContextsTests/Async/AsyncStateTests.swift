import ExecutionContexts
import Testing

/// The state machine behind an `Async` against lists, by random steps.
struct AsyncStateTests {
    /// What the machine should be.
    private struct Model {
        var phase = AsyncState.Phase.pending
        var hasFirst = false
        var line: [Party] = []

        var isUnwanted: Bool { phase == .pending && !hasFirst && line.allSatisfy(\.isOnlooker) }
    }

    @Test(arguments: 1...40)
    func `Law 24, 25, 26: the state machine does what lists do, whatever comes in whatever order`(
        _ seed: UInt64
    ) {
        var dice = Dice(seed: seed)
        let parties = (0..<12).map { _ in Party() }
        for index in stride(from: 0, to: 12, by: 3) { parties[index].isOnlooker = true }
        for _ in 0..<60 {
            var state = AsyncState()
            var model = Model()
            // Some get many parties before the end, some hardly any.
            let untilEnd = dice.roll(40) + 1
            for step in 0..<100 {
                switch step == untilEnd && model.phase == .pending ? 5 : dice.roll(5) {
                case 0:
                    let isFirst = model.phase == .pending && !model.hasFirst && model.line.isEmpty
                    if dice.roll(3) == 0 {
                        #expect(state.joinFirst() == isFirst)
                        if isFirst { model.hasFirst = true }
                    }
                case 1, 2:
                    guard
                        let party = parties.dropFirst(dice.roll(12)).first(where: { party in
                            !model.line.contains { $0 === party }
                        })
                    else { continue }
                    let mustTell = model.phase == .told
                    model.line.append(party)
                    if mustTell { model.phase = .telling }
                    let tells = party.isOnlooker ? state.join(onlooker: party) : state.join(party)
                    #expect(tells == mustTell)
                case 3:
                    let party = parties[dice.roll(12)]
                    let index = model.line.firstIndex { $0 === party }
                    if let index { model.line.remove(at: index) }
                    #expect(
                        state.leave(party)
                            == (index == nil ? .tooLate : model.isUnwanted ? .leftNobody : .left))
                case 4:
                    // Whoever tells takes the next one.
                    guard model.phase == .telling else { continue }
                    let next = model.line.isEmpty ? nil : model.line.removeFirst()
                    if next == nil { model.phase = .told }
                    #expect(state.next() === next)
                default:
                    let mustTell = model.hasFirst || !model.line.isEmpty
                    let putsOff = model.hasFirst && dice.roll(2) == 0
                    model.phase = mustTell ? .telling : .told
                    model.hasFirst = false
                    #expect(state.end() == mustTell)
                    if putsOff {
                        let first = Party()
                        model.line.insert(first, at: 0)
                        state.putBack(first)
                    }
                }
                #expect(state.phase == model.phase)
                #expect(state.hasFirst == model.hasFirst)
                #expect(state.parties.map(ObjectIdentifier.init) == model.line.map(ObjectIdentifier.init))
                #expect(state.isUnwanted == model.isUnwanted)
            }
            // Each time some parties are still in the line when the machine goes: they can stand in the next one.
            for party in model.line where dice.roll(2) == 0 { _ = state.leave(party) }
            while let party = state.parties.first { _ = state.leave(party) }
        }
    }

    @Test func `Law 10: a line owns each party once, and lets go of it`() {
        weak var left: Party?
        weak var told: Party?
        weak var abandoned: Party?
        do {
            var state = AsyncState()
            let parties = [Party(), Party(), Party()]
            (left, told, abandoned) = (parties[0], parties[1], parties[2])
            for party in parties { _ = state.join(party) }
            _ = state.leave(parties[0])
            _ = state.end()
            _ = state.next()
        }
        #expect(left == nil)
        #expect(told == nil)
        #expect(abandoned == nil)
    }
}
