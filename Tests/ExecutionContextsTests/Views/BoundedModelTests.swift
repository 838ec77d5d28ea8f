import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Bounded views against an array as their model, step by step, over a manual context.
struct BoundedModelTests {
    enum Policy: CaseIterable, Sendable { case refuse, dropOldest, wait }

    @Test(arguments: Policy.allCases, 1...4)
    func
        `A bounded view accepts, drops and runs what its model does, and every caller gets one outcome`(
            _ policy: Policy, _ seed: UInt64
        )
    {
        let manual = ManualContext()
        let dropped = Box<[Int]>([])
        let ran = Box<[Int]>([])
        let answers = Box<[Int: Int]>([:])
        let capacity = 4
        let view: any SerialContext & RefusingContext =
            switch policy {
            case .refuse: manual.bounded(to: capacity, overflow: .refuse)
            case .wait: manual.bounded(to: capacity, overflow: .wait)
            case .dropOldest:
                // Only counted: what runs shows which job was dropped.
                manual.bounded(
                    to: capacity, overflow: .dropOldest { _ in dropped.withValue { $0.append(0) } })
            }
        var rng = SeededRNG(seed: seed)
        var queued: [Int] = []
        var waiting: [Int] = []
        var expected: [Int] = []
        var refusals = 0
        var submissions: Set<Int> = []
        // Jobs that `dropOldest` neither counts nor drops.
        var accepted: Set<Int> = []
        func admitNewest(_ index: Int) {
            if queued.count - accepted.intersection(queued).count >= capacity {
                queued.remove(at: queued.firstIndex { !accepted.contains($0) }!)
            }
            queued.append(index)
        }
        for index in 0..<3000 {
            switch rng.next(below: 5) {
            case 0, 1:
                submissions.insert(index)
                view.submit { ran.withValue { $0.append(index) } }
                    .onComplete { _ in answers.withValue { $0[index, default: 0] += 1 } }
                if policy == .dropOldest {
                    admitNewest(index)
                } else if queued.count < capacity {
                    queued.append(index)
                } else if policy == .wait {
                    waiting.append(index)
                }
            case 2:
                do {
                    try view.tryExecute { ran.withValue { $0.append(index) } }
                    policy == .dropOldest ? admitNewest(index) : queued.append(index)
                } catch {
                    refusals += 1
                    #expect(policy != .dropOldest && queued.count >= capacity)
                }
            case 3 where rng.next(below: 4) == 0:
                // Enqueued jobs enter above the capacity, as due delays do.
                view.enqueue { ran.withValue { $0.append(index) } }
                queued.append(index)
                accepted.insert(index)
            default:
                let isRunning = manual.step()
                #expect(isRunning == !queued.isEmpty)
                if isRunning {
                    expected.append(queued.removeFirst())
                    if queued.count < capacity, !waiting.isEmpty {
                        queued.append(waiting.removeFirst())
                    }
                }
            }
        }
        manual.runReady()
        let isAsExpected = ran.value == expected + queued + waiting
        #expect(isAsExpected)
        #expect(answers.value.count == submissions.count)
        #expect(answers.value.values.allSatisfy { $0 == 1 })
        #expect((policy == .dropOldest) != (refusals > 0))
    }

    @Test
    func `Laws 1, 8: jobs that a view over a bounded view accepted are not dropped for newer ones`()
    {
        let manual = ManualContext()
        let log = Box<[String]>([])
        @Sendable func note(_ name: String) -> Work { { log.withValue { $0.append(name) } } }
        let bounded = manual.bounded(to: 1, overflow: .dropOldest { _ in note("dropped")() })
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

    @Test func `Law 1: a thread that waits on a view over a dropping view always gets its value`()
        async
    {
        await offThePool {
            let queue = SerialQueueContext(name: "queue")
            let bounded = queue.bounded(to: 1, overflow: .dropOldest { _ in })
            let view = bounded.serial()
            let isOver = Box(false)
            Thread.detachNewThread { while !isOver.value { bounded.execute {} } }
            for number in 0..<200 { #expect(view.sync { number } == number) }
            isOver.value = true
        }
    }
}
