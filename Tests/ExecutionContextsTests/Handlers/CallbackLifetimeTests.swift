import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The lifetimes of wrapped completion handlers, on every context (law 10).
@Suite(.serialized, .patient)
struct CallbackLifetimeTests {
    @Test(arguments: Subject.all)
    func `Law 10: a handler runs once and is freed, both on its context, while its wrapper lives`(
        _ subject: Subject
    ) async {
        let runs = Box(0)
        let made = subject.make()
        let context = made.context
        let kept = Box<(@Sendable (Int, String?) -> Void)?>(nil)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            func handler() -> @Sendable (Int, String?) -> Void {
                let end = Farewell {
                    #expect(context.isCurrent != false)
                    #expect(runs.value == 1)
                    continuation.resume()
                }
                return { number, text in
                    _ = end
                    #expect(context.isCurrent != false)
                    #expect(number == 1)
                    #expect(text == "a")
                    runs.withValue { $0 += 1 }
                }
            }
            kept.value = context.callback(handler()) { Issue.record("\($0)") }
            DispatchQueue.global().async {
                kept.value?(1, "a")
                made.drive?()
            }
        }
        #expect(kept.value != nil)
        #expect(runs.value == 1)
    }

    @Test(arguments: Subject.all)
    func `Law 10: a wrapped handler that ran and was released leaves nothing behind`(
        _ subject: Subject
    ) async {
        let made = subject.make()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            func fault() -> @Sendable (CallbackFault) -> Void {
                let end = Farewell { continuation.resume() }
                return { fault in
                    _ = end
                    Issue.record("\(fault)")
                }
            }
            made.context.callback({ (_: Int) in }, onFault: fault())(1)
            made.drive?()
        }
    }

    @Test func `Law 10: a wrapped handler keeps its context until it is freed`() async {
        weak var context: ManualContext?
        let wrapped: @Sendable () -> Void
        do {
            let manual = ManualContext()
            context = manual
            wrapped = manual.callback {}
            wrapped()
            manual.runReady()
            #expect(context != nil)
        }
        _ = consume wrapped
        #expect(context == nil)
    }
}
