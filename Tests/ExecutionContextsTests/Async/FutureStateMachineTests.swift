import ExecutionContexts
import TestSupport
import Testing

/// The state machine behind an `Async`, compared with a model by random steps.
struct AsyncStateTests {
    /// The expected state of the machine.
    private struct Model {
        var phase = FutureStateMachine.Phase.pending
        var hasFirst = false
        var queue: [FutureSubscriber] = []

        var isUnwanted: Bool { phase == .pending && !hasFirst && queue.allSatisfy(\.isOnlooker) }
    }

    @Test(arguments: seeds(debug: 12, release: 40))
    func `Law 24, 25, 26: the state machine behaves like its model under random calls`(
        _ seed: UInt64
    ) {
        var rng = SeededRNG(seed: seed)
        let subscribers = (0..<12).map { _ in FutureSubscriber() }
        for index in stride(from: 0, to: 12, by: 3) { subscribers[index].isOnlooker = true }
        for _ in 0..<60 {
            var state = FutureStateMachine()
            var model = Model()
            // Some machines get many subscribers before the end, some hardly any.
            let untilEnd = rng.next(below: 40) + 1
            for step in 0..<100 {
                switch step == untilEnd && model.phase == .pending ? 5 : rng.next(below: 5) {
                case 0:
                    let isFirst = model.phase == .pending && !model.hasFirst && model.queue.isEmpty
                    if rng.next(below: 3) == 0 {
                        #expect(state.joinFirst() == isFirst)
                        if isFirst { model.hasFirst = true }
                    }
                case 1, 2:
                    guard
                        let subscriber = subscribers.dropFirst(rng.next(below: 12)).first(where: {
                            subscriber in
                            !model.queue.contains { $0 === subscriber }
                        })
                    else { continue }
                    let mustNotify = model.phase == .notified
                    model.queue.append(subscriber)
                    if mustNotify { model.phase = .notifying }
                    let notifies =
                        subscriber.isOnlooker
                        ? state.addOnlooker(subscriber) : state.addSubscriber(subscriber)
                    #expect(notifies == mustNotify)
                case 3:
                    let subscriber = subscribers[rng.next(below: 12)]
                    let index = model.queue.firstIndex { $0 === subscriber }
                    if let index { model.queue.remove(at: index) }
                    #expect(
                        state.unsubscribe(subscriber)
                            == (index == nil ? .tooLate : model.isUnwanted ? .leftUnwanted : .left))
                case 4:
                    // The notifying thread removes the next subscriber.
                    guard model.phase == .notifying else { continue }
                    let next = model.queue.isEmpty ? nil : model.queue.removeFirst()
                    if next == nil { model.phase = .notified }
                    #expect(state.next() === next)
                default:
                    let mustNotify = model.hasFirst || !model.queue.isEmpty
                    let defers = model.hasFirst && rng.next(below: 2) == 0
                    model.phase = mustNotify ? .notifying : .notified
                    model.hasFirst = false
                    #expect(state.complete() == mustNotify)
                    if defers {
                        let first = FutureSubscriber()
                        model.queue.insert(first, at: 0)
                        state.putBack(first)
                    }
                }
                #expect(state.phase == model.phase)
                #expect(state.hasFirst == model.hasFirst)
                #expect(
                    state.subscribers.map(ObjectIdentifier.init)
                        == model.queue.map(ObjectIdentifier.init))
                #expect(state.isUnwanted == model.isUnwanted)
            }
            // All queued subscribers leave, in any order, so that they can join the next machine.
            for subscriber in model.queue where rng.next(below: 2) == 0 {
                _ = state.unsubscribe(subscriber)
            }
            while let subscriber = state.subscribers.first { _ = state.unsubscribe(subscriber) }
        }
    }

    @Test func `Law 10: the queue owns each subscriber once and releases it`() {
        weak var left: FutureSubscriber?
        weak var notified: FutureSubscriber?
        weak var abandoned: FutureSubscriber?
        do {
            var state = FutureStateMachine()
            let subscribers = [FutureSubscriber(), FutureSubscriber(), FutureSubscriber()]
            (left, notified, abandoned) = (subscribers[0], subscribers[1], subscribers[2])
            for subscriber in subscribers { _ = state.addSubscriber(subscriber) }
            _ = state.unsubscribe(subscribers[0])
            _ = state.complete()
            _ = state.next()
        }
        #expect(left == nil)
        #expect(notified == nil)
        #expect(abandoned == nil)
    }
}
