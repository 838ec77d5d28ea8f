import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Laws 5 and 6: which jobs run on the caller, and when they may.
@Suite(.patient)
struct InlineLawTests {
    @Test
    func `Law 5: an immediate job runs on the caller before execute returns, and nested jobs nest`()
    {
        let order = Box<[String]>([])
        let caller = ObjectIdentifier(Thread.current)
        let context = ImmediateContext()
        context.execute {
            #expect(ObjectIdentifier(Thread.current) == caller)
            order.withValue { $0.append("outer begins") }
            context.execute { order.withValue { $0.append("inner") } }
            order.withValue { $0.append("outer ends") }
        }
        order.withValue { $0.append("returned") }
        #expect(order.value == ["outer begins", "inner", "outer ends", "returned"])
    }

    @Test
    func `Law 5: a nested trampoline job runs after the running job and before execute returns`() {
        let order = Box<[String]>([])
        let context = TrampolineContext()
        context.execute {
            #expect(context.isCurrent == true)
            context.execute {
                order.withValue { $0.append("first nested") }
                context.execute { order.withValue { $0.append("nested in nested") } }
            }
            context.execute { order.withValue { $0.append("second nested") } }
            order.withValue { $0.append("outer ends") }
        }
        #expect(context.isCurrent == false)
        #expect(order.value == ["outer ends", "first nested", "second nested", "nested in nested"])
    }

    @Test func `Law 5: a trampoline chain of a million links does not overflow the stack`() async {
        await offThePool {
            let chain = Chain(links: 1_000_000)
            TrampolineContext().execute { chain.next() }
            #expect(chain.left == 0)
        }
    }

    @Test func `Law 5: each thread has a trampoline of its own`() async {
        await offThePool {
            let context = TrampolineContext()
            context.execute {
                let isCurrentElsewhere = Box<Bool?>(nil)
                let ran = Box(false)
                let done = DispatchSemaphore(value: 0)
                DispatchQueue(label: "another thread").async {
                    isCurrentElsewhere.value = context.isCurrent
                    context.execute { ran.value = true }
                    done.signal()
                }
                done.wait()
                #expect(isCurrentElsewhere.value == false)
                #expect(ran.value)
            }
        }
    }

    @Test func `Law 6: a job submitted from the context itself runs inline`() {
        let base = ManualContext()
        let view = base.inlineIfCurrent()
        let order = Box<[String]>([])
        view.execute {
            order.withValue { $0.append("begins") }
            view.execute { order.withValue { $0.append("inline") } }
            order.withValue { $0.append("ends") }
        }
        #expect(order.value.isEmpty)
        base.runReady()
        #expect(order.value == ["begins", "inline", "ends"])
    }

    @Test func `Law 6: no job runs inline while an earlier job of the view is queued`() {
        let base = ManualContext()
        let view = base.inlineIfCurrent()
        let order = Box<[Int]>([])
        view.execute {
            order.withValue { $0.append(1) }
            view.execute { order.withValue { $0.append(3) } }
        }
        view.execute { order.withValue { $0.append(2) } }
        base.runReady()
        #expect(order.value == [1, 2, 3])
    }

    @Test func `Law 6: a queued job of another view of the same base does not prevent inlining`() {
        let base = ManualContext()
        let view = base.inlineIfCurrent()
        let otherView = base.inlineIfCurrent()
        let order = Box<[Int]>([])
        view.execute {
            view.execute { order.withValue { $0.append(1) } }
        }
        otherView.execute { order.withValue { $0.append(2) } }
        base.runReady()
        #expect(order.value == [1, 2])
    }

    @Test func `Law 6: delayed jobs and barriers never run inline`() {
        let base = ManualContext()
        let view = base.inlineIfCurrent()
        let order = Box<[String]>([])
        view.execute {
            view.enqueue { order.withValue { $0.append("enqueued") } }
            view.schedule(after: .zero) { order.withValue { $0.append("delayed") } }
            view.executeBarrier { order.withValue { $0.append("barrier") } }
            order.withValue { $0.append("ends") }
        }
        base.advance(by: .zero)
        #expect(order.value == ["ends", "enqueued", "barrier", "delayed"])
    }

    @Test func `Law 6: a job that the base drops does not delay later jobs`() {
        let manual = ManualContext()
        let isDropping = Box(true)
        let base = ClosureContext(name: "dropping", isCurrent: { manual.isCurrent }) { work in
            if !isDropping.value { manual.execute(work) }
        }
        let view = base.inlineIfCurrent()
        view.execute {}
        isDropping.value = false
        let order = Box<[String]>([])
        view.execute {
            view.execute { order.withValue { $0.append("inline") } }
            order.withValue { $0.append("ends") }
        }
        manual.runReady()
        #expect(order.value == ["inline", "ends"])
    }
}

/// Submits each next link from inside the previous one.
private final class Chain: @unchecked Sendable {
    // Unchecked: a trampoline runs its links on one thread.
    private(set) var left: Int

    init(links: Int) { left = links }

    func next() {
        left -= 1
        if left > 0 { TrampolineContext().execute { self.next() } }
    }
}
