import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Histories in simulations: correct structures pass every schedule, and a broken one is found,
/// described and replayed.
@Suite(.patient)
struct SimulatedHistoryTests {
    /// A stack that is read and changed under a lock, or without one.
    final class Stack: Sendable {
        private let elements = Tracked<[Int]>([], name: "elements")
        private let lock: Lock

        enum Lock: String, CaseIterable, Sendable { case coordinator, section, none }

        private let coordinator: ReadWriteCoordinator
        private let section = CriticalSection(name: "section")

        init(_ lock: Lock, _ sim: SimulatedWorld) {
            self.lock = lock
            coordinator = ReadWriteCoordinator(name: "stack", writesOn: sim.serial(named: "writes"))
        }

        private func alone<Value>(_ body: () -> Value) -> Value {
            switch lock {
            case .coordinator: coordinator.blockingWrite(body)
            case .section: section.execute(body)
            case .none: body()
            }
        }

        func push(_ element: Int) { alone { elements.value.append(element) } }

        func pop() -> Int? {
            alone {
                var rest = elements.value
                let last = rest.popLast()
                elements.value = rest
                return last
            }
        }
    }

    private func searchStack(_ lock: Stack.Lock, replay: String? = nil) -> SimulationReport {
        search("stack behind \(lock)", schedules: 250, replay: replay) { sim in
            let stack = Stack(lock, sim)
            let history = History(of: StackModel())
            sim.spawn("alice") {
                history.record(.push(1)) { stack.push(1) }
                history.record(.pop) { stack.pop() }
            }
            sim.spawn("bob") {
                history.record(.push(2)) { stack.push(2) }
                history.record(.pop) { stack.pop() }
            }
            sim.expectLinearizable(history)
        }
    }

    @Test(arguments: [Stack.Lock.coordinator, .section])
    func `Law 33: a stack behind a lock is linearizable in each schedule`(lock: Stack.Lock) {
        let report = searchStack(lock)
        #expect(report.failure == nil)
        #expect(report.schedules == 250)
    }

    @Test func `Law 33: a stack without a lock fails, and the token replays the failure`() throws {
        let failure = try #require(searchStack(.none).failure)
        print(failure)
        #expect(failure.kind == .history)
        #expect(failure.switches <= 2, "\(failure)")
        let again = try #require(searchStack(.none, replay: failure.token).failure)
        #expect(
            again.description == failure.description.replacing(/schedule \d+/, with: "schedule 1"))
    }

    @Test(arguments: [false, true])
    func `Law 17: a register behind a coordinator is linearizable, also with concurrent reads`(
        isBroken: Bool
    ) {
        let report = search("register", schedules: 250) { sim in
            let lock = ReadWriteCoordinator(name: "register", writesOn: sim.serial(named: "writes"))
            let (low, high) = (Tracked(0, name: "low"), Tracked(0, name: "high"))
            let history = History(of: RegisterModel())
            for (index, name) in ["alice", "bob"].enumerated() {
                sim.spawn(name) {
                    let value = 11 * (index + 1)
                    history.record(.write(value)) {
                        lock.blockingWrite {
                            low.value = value % 10
                            high.value = value / 10
                            return nil
                        }
                    }
                    history.record(.read) {
                        // The broken register reads one half before it locks.
                        if isBroken {
                            let first = low.value
                            return lock.read { high.value * 10 + first }
                        }
                        return lock.read { high.value * 10 + low.value }
                    }
                }
            }
            sim.expectLinearizable(history)
        }
        #expect(report.failure?.kind == (isBroken ? .history : nil), "\(report)")
    }

    @Test func `Law 33: an operation that threw may have taken effect or not`() throws {
        struct Crash: Error {}
        for isDone in [false, true] {
            try simulate("crash", schedules: 200) { sim in
                let value = LockedResource(0, lockedBy: .section)
                let history = History(of: RegisterModel())
                sim.spawn("alice") {
                    _ = try? history.record(.write(1)) {
                        if isDone { value.mutate { $0 = 1 } }
                        throw Crash()
                    }
                }
                sim.spawn("bob") {
                    for _ in 0..<2 { history.record(.read) { value.read { $0 } } }
                }
                sim.expectLinearizable(history)
            }
        }
    }

    @Test(arguments: [false, true])
    func `Law 33: tasks record under their names, and maps are checked key by key`(isBroken: Bool)
        throws
    {
        let report = search("map", schedules: 250) { sim in
            let map = Tracked<[Int: Int]>([:], name: "map")
            let section = CriticalSection(name: "map")
            let history = History(of: MapModel())
            for (index, name) in ["alice", "bob"].enumerated() {
                sim.task(name) {
                    for key in [1, 2] {
                        await history.recordAsync(.put(key, index)) {
                            await Task.yield()
                            func put() -> Int? {
                                let old = map.value[key]
                                map.value[key] = index
                                return old
                            }
                            return isBroken ? put() : section.execute(put)
                        }
                    }
                }
            }
            sim.expectLinearizable(history, partitionedBy: \.key)
        }
        #expect(report.failure?.kind == (isBroken ? .history : nil), "\(report)")
        if let failure = report.failure {
            #expect(failure.happened.contains("\n  alice "), "\(failure)")
            #expect(failure.happened.contains("\n  bob "), "\(failure)")
        }
    }

    @Test func `Law 33: a check that gives up is misuse, not a fault of the program`() throws {
        let failure = try #require(
            search("hard") { sim in
                let history = History(of: CounterModel())
                sim.spawn("alice") { for _ in 0..<4 { history.begin(1).end(1) } }
                sim.expectLinearizable(history, steps: 1)
            }.failure)
        #expect(failure.kind == .misuse)
        #expect(failure.happened.contains("not known after 1 steps"))
    }
}
