import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Laws 1, 10, 18 and 30 for writes that a resource's write context runs later.
@Suite(.patient)
struct LockedResourceWriteContextTests {
    @Test func `Law 30: enqueued writes run on the write context, in order`() {
        let writeContext = ManualContext()
        let resource = LockedResource(
            [Int](), lockedBy: .section(CriticalSection(), writesOn: writeContext))
        for number in 1...3 { resource.enqueueWrite { $0.append(number) } }
        #expect(resource.read { $0.isEmpty })
        writeContext.runReady()
        #expect(resource.read { $0 } == [1, 2, 3])
    }

    @Test func `Laws 1, 30: a write context that refuses, drops or repeats jobs drops no write`()
        async
    {
        let dropping = ClosureContext { _ in }
        let repeating = ClosureContext { work in
            DispatchQueue.global().async {
                work()
                work()
            }
        }
        let full = ManualContext().bounded(to: 1, overflow: .refuse)
        full.execute {}
        await watched {
            for writeContext in [dropping, repeating, full] as [any ExecutionContext] {
                let resource = LockedResource(
                    [Int](), lockedBy: .section(CriticalSection(), writesOn: writeContext))
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

    @Test
    func `Laws 18, 30: an inline write context runs a write at once, but not inside an access`()
        async
    {
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
            // A write context that is driven inside an access runs no write there either.
            let writeContext = ManualContext()
            let other = LockedResource(0, lockedBy: .section(section, writesOn: writeContext))
            other.enqueueWrite {
                $0 += 1
                done.signal()
            }
            other.read { value in
                writeContext.runReady()
                #expect(value == 0)
            }
            done.wait()
            #expect(other.read { $0 } == 1)
        }
    }

    @Test func `Laws 10, 30: pending writes alone keep the value alive, and until they have run`() {
        let writeContext = ManualContext()
        let log = Box(0)
        weak var witness: Box<Int>?
        do {
            let box = Box(0)
            witness = box
            let resource = LockedResource(
                box, lockedBy: .section(CriticalSection(), writesOn: writeContext))
            resource.enqueueWrite { box in
                box.value += 1
                log.value = box.value
            }
        }
        #expect(witness != nil)
        writeContext.runReady()
        #expect(log.value == 1)
        #expect(witness == nil)
    }
}
