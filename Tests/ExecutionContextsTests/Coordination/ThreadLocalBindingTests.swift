import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Contexts whose jobs see a bound value of a thread-local.
@Suite(.patient)
struct ThreadLocalBindingTests {
    @Test func `A job of a binding context sees the bound value, and its thread keeps its own`() {
        let local = ThreadLocalValue<Int> { _ in 0 }
        let manual = ManualContext()
        let seen = Box<[Int?]>([])
        let view = manual.binding(local, to: 1)
        view.execute {
            seen.withValue { $0.append(local.value()) }
            // No later job sees this.
            local.set(9)
        }
        manual.execute { seen.withValue { $0.append(local.value()) } }
        view.schedule(after: .seconds(1)) { seen.withValue { $0.append(local.value()) } }
        view.binding(local, to: 2).execute { seen.withValue { $0.append(local.value()) } }
        view.binding(local, to: nil).execute { seen.withValue { $0.append(local.cachedValue()) } }
        manual.advance(by: .seconds(1))
        #expect(seen.value == [1, 0, 2, nil, 1])
    }

    @Test
    func `Law 8: views over a binding context keep it, and each job of a drain sees it afresh`() {
        let local = ThreadLocalValue<String>()
        let manual = ManualContext()
        let seen = Box<[String?]>([])
        let bound = manual.binding(local, to: "bound")
        for view in [bound.serial(), bound.limited(to: 2), bound.barrier()] as [any BarrierContext]
        {
            view.execute {
                seen.withValue { $0.append(local.value()) }
                local.set("changed")
            }
            view.executeBarrier { seen.withValue { $0.append(local.value()) } }
            manual.runReady()
        }
        #expect(seen.value == Array(repeating: "bound", count: 6))
    }

    @Test func `An inline binding context restores the caller's value, in sync as well`() async {
        await offThePool {
            let local = ThreadLocalValue<Int>(namespace: "binding", key: "inline")
            local.set(1)
            ImmediateContext().binding(local, to: 2).execute { #expect(local.value() == 2) }
            #expect(local.value() == 1)
            let queue: any SerialContext = SerialQueueContext(name: "bound").binding(local, to: 3)
            let synchronous = queue as? any SynchronousContext
            #expect(synchronous?.sync { local.value() } == 3)
            #expect(local.value() == 1)
            local.set(nil)
        }
    }

    @Test func `Laws 2, 3: a binding context keeps the kind and the name of its base`() {
        let local = ThreadLocalValue<Int>()
        let serial: any SerialContext = GlobalContext().serial().binding(local, to: 1)
        let barrier: any BarrierContext = GlobalContext().barrier().binding(local, to: 1)
        #expect(!(barrier is any SerialContext))
        #expect(serial.name == GlobalContext().serial().name)
    }
}
