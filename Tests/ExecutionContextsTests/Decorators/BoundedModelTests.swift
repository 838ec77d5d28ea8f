import ExecutionContexts
import ExecutionContextsTesting
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
        for index in 0..<3000 {
            switch dice.roll(5) {
            case 0, 1:
                submissions.insert(index)
                view.submit { ran.withValue { $0.append(index) } }
                    .onComplete { _ in answers.withValue { $0[index, default: 0] += 1 } }
                if ticketed.count < capacity {
                    ticketed.append(index)
                } else if policy == .wait {
                    patient.append(index)
                } else if policy == .dropOldest {
                    ticketed.removeFirst()
                    ticketed.append(index)
                }
            case 2:
                do {
                    try view.tryExecute { ran.withValue { $0.append(index) } }
                    if ticketed.count >= capacity { ticketed.removeFirst() }
                    ticketed.append(index)
                } catch {
                    refusals += 1
                    #expect(policy != .dropOldest && ticketed.count >= capacity)
                }
            case 3 where dice.roll(4) == 0:
                // Due delays enter above the capacity.
                view.enqueue { ran.withValue { $0.append(index) } }
                ticketed.append(index)
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
}
