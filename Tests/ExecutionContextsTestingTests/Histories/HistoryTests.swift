import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Hand-written histories: which are linearizable, and how a failure describes the others.
struct HistoryTests {
    /// Records a history as threads would: an event with an operation begins it, any other ends it.
    private func write<Model: SequentialModel>(
        _ model: Model,
        _ events: [(caller: String, operation: Model.Operation?, answer: Model.Answer?)]
    ) -> History<Model> {
        let history = History(of: model)
        var open: [String: History<Model>.Call] = [:]
        for event in events {
            if let operation = event.operation {
                open[event.caller] = history.begin(operation, by: event.caller)
            } else if let answer = event.answer {
                open.removeValue(forKey: event.caller)?.end(answer)
            }
        }
        return history
    }

    private func isLinearizable(_ history: History<some SequentialModel>) -> Bool {
        do throws(HistoryFailure) {
            try expectLinearizable(history)
            return true
        } catch {
            #expect(error.kind == .notLinearizable, "\(error)")
            return false
        }
    }

    private typealias RegisterEvents = [(
        caller: String, operation: RegisterModel.Operation?, answer: Int??
    )]

    @Test func `A read that begins after a write has ended must not miss it`() {
        let stale: RegisterEvents = [
            ("a", .write(1), nil), ("a", nil, .some(nil)), ("b", .read, nil), ("b", nil, 0),
        ]
        let early: RegisterEvents = [
            ("a", .write(1), nil), ("b", .read, nil), ("a", nil, .some(nil)), ("b", nil, 0),
        ]
        #expect(!isLinearizable(write(RegisterModel(), stale)))
        #expect(isLinearizable(write(RegisterModel(), early)))
        #expect(!isLinearizable(write(Unhashable(RegisterModel()), stale)))
        #expect(isLinearizable(write(Unhashable(RegisterModel()), early)))
    }

    @Test func `Two readers must not see two writes in opposite orders`() {
        #expect(
            !isLinearizable(
                write(
                    RegisterModel(),
                    [
                        ("w", .write(1), nil), ("v", .write(2), nil),
                        ("a", .read, nil), ("a", nil, 1), ("b", .read, nil), ("b", nil, 2),
                        ("a", .read, nil), ("a", nil, 1),
                    ])))
    }

    @Test func `Of two concurrent increments, one sees the other`() {
        func counted(_ first: Int, _ second: Int) -> Bool {
            isLinearizable(
                write(
                    CounterModel(),
                    [("a", 1, nil), ("b", 1, nil), ("a", nil, first), ("b", nil, second)]))
        }
        #expect(counted(1, 2))
        #expect(counted(2, 1))
        #expect(!counted(1, 1))
        #expect(!counted(2, 2))
    }

    @Test func `A queue gives each element once, in order`() {
        func dequeued(_ first: Int?, _ second: Int?) -> Bool {
            isLinearizable(
                write(
                    QueueModel(),
                    [
                        ("a", .enqueue(1), nil), ("a", nil, .some(nil)), ("a", .enqueue(2), nil),
                        ("a", nil, .some(nil)), ("b", .dequeue, nil), ("b", nil, .some(first)),
                        ("c", .dequeue, nil), ("c", nil, .some(second)),
                    ]))
        }
        #expect(dequeued(1, 2))
        #expect(!dequeued(1, 1))
        #expect(!dequeued(2, 1))
        #expect(!dequeued(1, nil))
    }

    @Test(arguments: [0, 1, 2])
    func `An operation that has not returned may have taken effect or not`(read: Int) {
        let history = write(
            RegisterModel(),
            [
                ("a", .write(1), nil), ("b", .read, nil), ("b", nil, read), ("c", .read, nil),
                ("c", nil, read),
            ])
        #expect(isLinearizable(history) == (read < 2))
    }

    @Test
    func `An operation that has not returned takes effect once at most, and not before it began`() {
        let back = write(
            RegisterModel(),
            [
                ("a", .write(1), nil), ("b", .read, nil), ("b", nil, 1), ("c", .read, nil),
                ("c", nil, 0),
            ])
        let early = write(
            RegisterModel(), [("b", .read, nil), ("b", nil, 1), ("a", .write(1), nil)])
        #expect(!isLinearizable(back))
        #expect(!isLinearizable(early))
    }

    @Test func `An operation whose body throws may have taken effect or not`() {
        struct Refused: Error {}
        for seen in [0, 1] {
            let history = History(of: RegisterModel())
            #expect(throws: Refused.self) { try history.record(.write(1)) { throw Refused() } }
            history.record(.read) { seen }
            #expect(isLinearizable(history))
        }
    }

    @Test func `A body that returns nothing records an operation without an answer`() {
        let history = History(of: StackModel())
        var elements: [Int] = []
        history.record(.push(1)) { elements.append(1) }
        history.record(.push(2)) { elements.append(2) }
        let top: Int? = history.record(.pop) { elements.popLast() }
        // This body has an answer. Taken for one without, it would be recorded as nil.
        history.record(.pop) { elements.removeLast() }
        #expect(top == 2)
        #expect(isLinearizable(history))
        #expect(elements.isEmpty)
        history.record(.pop) { 7 }
        #expect(!isLinearizable(history))
    }

    @Test func `A failure shows the operations that it needs, and the right answer`() throws {
        let history = write(
            QueueModel(),
            [
                ("alice", .enqueue(7), nil), ("alice", nil, .some(nil)),
                ("alice", .enqueue(8), nil),
                ("bob", .dequeue, nil), ("carol", .dequeue, nil), ("alice", nil, .some(nil)),
                ("bob", nil, 7), ("carol", nil, 7), ("bob", .dequeue, nil), ("bob", nil, 8),
            ])
        let error = try #require(throws: HistoryFailure.self) { try expectLinearizable(history) }
        print(error)
        #expect(
            error.threads == [
                "alice  [enqueue(7) = nil]", "bob                      [dequeue = 7]",
                "carol                     [dequeue = 7]",
            ])
        #expect(
            error.description.contains("carol: dequeue must answer nil, but answered 7."))
    }

    @Test func `The report of a long history begins where no operation was in progress`() throws {
        let history = History(of: RegisterModel())
        for value in 1...50 { history.record(.write(value), by: "a") {} }
        history.record(.read, by: "b") { 49 }
        let error = try #require(throws: HistoryFailure.self) { try expectLinearizable(history) }
        print(error)
        #expect(error.threads == ["b  [read = 49]"])
        #expect(error.description.contains("They began with RegisterModel(value: 50)."))
    }

    @Test func `A check that takes too many steps ends with a message`() throws {
        let history = History(of: CounterModel())
        let calls = (0..<12).map { history.begin(1 << $0) }
        for call in calls { call.end(-1) }
        let error = try #require(throws: HistoryFailure.self) {
            try expectLinearizable(history, steps: 1_000)
        }
        #expect(error.kind == .tooMuchWork)
        #expect(error.description.contains("is not known after 1000 steps of CounterModel"))
    }

    @Test func `An operation that ends twice traps`() async {
        await #expect(processExitsWith: .failure) {
            let call = History(of: CounterModel()).begin(1)
            call.end(1)
            call.end(1)
        }
    }
}
