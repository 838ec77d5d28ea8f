import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Bounded views against an array, step by step, over a serial context that runs when it is told to.
struct BoundedModelTests {
    enum Policy: CaseIterable, Sendable { case refuse, dropOldest, wait }

    @Test(arguments: Policy.allCases, 1...4)
    func `A bounded view accepts, drops and runs what a model does, and answers everybody once`(
        _ policy: Policy, _ seed: UInt64
    ) {
        let manual = ManualContext()
        let dropped = Box<[Int]>([])
        let ran = Box<[Int]>([])
        let answers = Box<[Int: Int]>([:])
        let capacity = 4
        let view: any SerialContext & RefusingContext =
            switch policy {
            case .refuse: manual.bounded(capacity, overflow: .refuse)
            case .wait: manual.bounded(capacity, overflow: .wait)
            case .dropOldest:
                // Only counted: which piece went shows in what runs.
                manual.bounded(capacity, overflow: .dropOldest { _ in dropped.withValue { $0.append(0) } })
            }
        var dice = Dice(seed: seed)
        var ticketed: [Int] = []
        var patient: [Int] = []
        var expected: [Int] = []
        var refusals = 0
        var submissions: Set<Int> = []
        // Those that `dropOldest` neither counts nor drops.
        var accepted: Set<Int> = []
        func admitNewest(_ index: Int) {
            if ticketed.count - accepted.intersection(ticketed).count >= capacity {
                ticketed.remove(at: ticketed.firstIndex { !accepted.contains($0) }!)
            }
            ticketed.append(index)
        }
        for index in 0..<3000 {
            switch dice.roll(5) {
            case 0, 1:
                submissions.insert(index)
                view.submit { ran.withValue { $0.append(index) } }
                    .onComplete { _ in answers.withValue { $0[index, default: 0] += 1 } }
                if policy == .dropOldest {
                    admitNewest(index)
                } else if ticketed.count < capacity {
                    ticketed.append(index)
                } else if policy == .wait {
                    patient.append(index)
                }
            case 2:
                do {
                    try view.tryExecute { ran.withValue { $0.append(index) } }
                    policy == .dropOldest ? admitNewest(index) : ticketed.append(index)
                } catch {
                    refusals += 1
                    #expect(policy != .dropOldest && ticketed.count >= capacity)
                }
            case 3 where dice.roll(4) == 0:
                // Due delays enter above the capacity.
                view.enqueue { ran.withValue { $0.append(index) } }
                ticketed.append(index)
                accepted.insert(index)
            default:
                let isRunning = manual.step()
                #expect(isRunning == !ticketed.isEmpty)
                if isRunning {
                    expected.append(ticketed.removeFirst())
                    if ticketed.count < capacity, !patient.isEmpty { ticketed.append(patient.removeFirst()) }
                }
            }
        }
        manual.runReady()
        let isAsExpected = ran.value == expected + ticketed + patient
        #expect(isAsExpected)
        #expect(answers.value.count == submissions.count)
        #expect(answers.value.values.allSatisfy { $0 == 1 })
        #expect((policy == .dropOldest) != (refusals > 0))
    }

    @Test func `Laws 1, 8: what a view over it has accepted is not dropped for newer work`() {
        let manual = ManualContext()
        let log = Box<[String]>([])
        @Sendable func note(_ name: String) -> Work { { log.withValue { $0.append(name) } } }
        let bounded = manual.bounded(1, overflow: .dropOldest { _ in note("dropped")() })
        let view = bounded.serial()
        view.execute(note("view"))
        bounded.schedule(after: .zero, note("delay"))
        let answer = view.submit { 7 }
        for name in ["a", "b", "c"] { bounded.execute(note(name)) }
        manual.runReady()
        #expect(log.value.filter { $0 == "dropped" }.count == 2)
        #expect(Set(log.value).isSuperset(of: ["view", "delay", "c"]))
        #expect(answer.value == 7)
        #expect(throws: Never.self) { try manual.finish() }
    }

    @Test func `Law 1: a thread that waits on a view over it gets its value, whatever is dropped beside`()
        async
    {
        await offThePool {
            let queue = SerialQueueContext(label: "queue")
            let bounded = queue.bounded(1, overflow: .dropOldest { _ in })
            let view = bounded.serial()
            let isOver = Box(false)
            Thread.detachNewThread { while !isOver.value { bounded.execute {} } }
            for number in 0..<200 { #expect(view.sync { number } == number) }
            isOver.value = true
        }
    }
}
