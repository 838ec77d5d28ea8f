import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Additions such as users write, and what the law kit says of them.
@Suite(.patient)
struct AdditionLawTests {
    @Test func `The kit passes an addition that runs each job once, in place`() async {
        let tally = Tallying()
        let breaches = await Laws.check(tally, patience: Patience.event)
        #expect(breaches.isEmpty, "\(breaches)")
        #expect(tally.count.value > 100)
    }

    @Test(arguments: [Fault.drops, .repeats, .moves, .keeps])
    private func `The kit finds an addition that breaks a law`(_ fault: Fault) async {
        let breaches = await Laws.check(Faulty(fault: fault), patience: .milliseconds(50))
        #expect(breaches.contains { fault.laws.contains($0.law) }, "\(breaches)")
    }

    @Test func `What an addition does to a job it does to the bodies of sync`() throws {
        let tally = Tallying()
        let queue = BarrierQueueContext(name: "queue").with(tally).named("named")
        #expect(queue.sync { tally.count.value } == 1)
        #expect(queue.syncBarrier { tally.count.value } == 2)
        struct Oops: Error {}
        #expect(throws: Oops.self) { try queue.sync { throw Oops() } }
        queue.hold().release()
        #expect(tally.count.value == 3)
    }

    @Test func `Law 1: a sync whose body an addition drops traps with the addition's name`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            SerialQueueContext(name: "queue").with(Faulty(fault: .drops)).sync {}
        }
        let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(said.contains("Faulty") && said.contains("law 1"), "\(said)")
    }

    enum Fault: Sendable {
        case drops, repeats, moves, keeps

        var laws: Set<Int> {
            switch self {
            case .drops, .repeats: [1]
            case .moves: [1, 2, 3, 4]
            case .keeps: [10]
            }
        }
    }

    private struct Faulty: ContextAddition {
        let fault: Fault
        private let kept = Box<[Work]>([])

        init(fault: Fault) { self.fault = fault }

        func decorate(_ work: @escaping Work) -> Work {
            switch fault {
            case .drops: {}
            case .repeats:
                {
                    work()
                    work()
                }
            case .moves: { DispatchQueue.global().async(execute: work) }
            case .keeps:
                { [kept] in
                    kept.withValue { $0.append(work) }
                    work()
                }
            }
        }
    }
}
