import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Laws 1, 10, 18 and 30 for writes that a resource's carrier runs later.
@Suite(.timeLimit(.minutes(30)))
struct LockedResourceCarrierTests {
    @Test func `Law 30: enqueued writes run on the carrier, one at a time`() {
        let carrier = ManualContext()
        let resource = LockedResource([Int](), lockedBy: .section(CriticalSection(), writesOn: carrier))
        for number in 1...3 { resource.enqueueWrite { $0.append(number) } }
        #expect(resource.read { $0.isEmpty })
        carrier.runReady()
        #expect(resource.read { $0 } == [1, 2, 3])
    }

    @Test func `Laws 1, 30: a carrier that refuses or loses a write, or runs it twice, loses no write`() async
    {
        let losing = ClosureContext { _ in }
        let doubling = ClosureContext { work in
            DispatchQueue.global().async {
                work()
                work()
            }
        }
        let full = ManualContext().bounded(1, overflow: .refuse)
        full.execute {}
        await watched {
            for carrier in [losing, doubling, full] as [any ExecutionContext] {
                let resource = LockedResource(
                    [Int](), lockedBy: .section(CriticalSection(), writesOn: carrier))
                let done = DispatchGroup()
                for number in 0..<50 {
                    done.enter()
                    resource.enqueueWrite {
                        $0.append(number)
                        done.leave()
                    }
                }
                done.wait()
                #expect(resource.read { $0 } == Array(0..<50))
            }
        }
    }

    @Test func `Laws 18, 30: on the caller a write runs at once, and never inside an access`() async {
        await watched {
            let section = CriticalSection()
            let resource = LockedResource(0, lockedBy: .section(section, writesOn: .immediate))
            resource.enqueueWrite { $0 += 1 }
            #expect(resource.read { $0 } == 1)
            let done = DispatchSemaphore(value: 0)
            resource.read { value in
                resource.enqueueWrite {
                    $0 += 1
                    done.signal()
                }
                #expect(value == 1)
            }
            done.wait()
            #expect(resource.read { $0 } == 2)
            // A carrier that is driven inside an access does not run writes there either.
            let carrier = ManualContext()
            let other = LockedResource(0, lockedBy: .section(section, writesOn: carrier))
            other.enqueueWrite {
                $0 += 1
                done.signal()
            }
            other.read { value in
                carrier.runReady()
                #expect(value == 0)
            }
            done.wait()
            #expect(other.read { $0 } == 1)
        }
    }

    @Test func `Laws 10, 30: pending writes keep the value until they have run, and nothing else does`() {
        let carrier = ManualContext()
        let log = Box(0)
        weak var witness: Box<Int>?
        do {
            let box = Box(0)
            witness = box
            let resource = LockedResource(box, lockedBy: .section(CriticalSection(), writesOn: carrier))
            resource.enqueueWrite { box in
                box.value += 1
                log.value = box.value
            }
        }
        #expect(witness != nil)
        carrier.runReady()
        #expect(log.value == 1)
        #expect(witness == nil)
    }
}
