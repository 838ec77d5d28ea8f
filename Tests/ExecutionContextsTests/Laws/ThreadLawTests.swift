import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Laws 11 and 12: the number of threads, and shared state.
@Suite(.patient)
struct ThreadLawTests {
    @Test func `Law 11: a thousand views over a pool run on the pool's threads`() async {
        // The base has one thread: if a view made a thread of its own, its jobs would run there.
        let base = ThreadContext(name: "the only thread")
        let strayJobs = Box(0)
        await withCheckedContinuation { continuation in
            let left = Box(3_000)
            for index in 0..<1_000 {
                let views: [any ExecutionContext] = [
                    base.serial(named: "serial \(index)"), base.limited(to: 2), base.barrier(),
                ]
                for view in views {
                    view.execute {
                        if base.isCurrent != true { strayJobs.withValue { $0 += 1 } }
                        if left.withValue({
                            $0 -= 1; return $0 == 0
                        }) {
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(strayJobs.value == 0)
    }

    @Test func `Law 11: blocking jobs get threads up to the limit, and further jobs wait in order`()
        async
    {
        await offThePool {
            let context = BlockingContext(limit: 4)
            let mayEnd = DispatchSemaphore(value: 0)
            let started = DispatchSemaphore(value: 0)
            let inside = Box((now: 0, most: 0))
            let done = DispatchGroup()
            for _ in 0..<12 {
                done.enter()
                context.execute {
                    inside.withValue { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    started.signal()
                    mayEnd.wait()
                    inside.withValue { $0.now -= 1 }
                    done.leave()
                }
            }
            // Four jobs block at a time, each on a thread of its own, and no fifth starts.
            for _ in 0..<4 { started.wait() }
            #expect(inside.value.now == 4)
            for _ in 0..<12 { mayEnd.signal() }
            done.wait()
            #expect(inside.value.most == 4)
        }
    }

    @Test func `Law 11: blocked jobs do not prevent other jobs of the pool from running`() async {
        await offThePool {
            let mayEnd = DispatchSemaphore(value: 0)
            let done = DispatchGroup()
            for _ in 0..<32 {
                done.enter()
                BlockingContext.blocking.execute {
                    mayEnd.wait()
                    done.leave()
                }
            }
            let ran = DispatchSemaphore(value: 0)
            GlobalContext().execute { ran.signal() }
            ran.wait()
            for _ in 0..<32 { mayEnd.signal() }
            done.wait()
        }
    }

    @Test func `Law 12: two views of one context, and two tests, share no mutable settings`()
        async throws
    {
        // A view keeps to itself what it is made with: names, limits, observers, tokens.
        let base = ManualContext(name: "base")
        let token = InvalidationToken()
        let ending = base.named("ending").valid(while: token)
        let lasting = base.named("lasting")
        token.invalidate()
        let ran = Box<[String]>([])
        ending.execute { ran.withValue { $0.append("ending") } }
        lasting.execute { ran.withValue { $0.append("lasting") } }
        base.runReady()
        #expect(ran.value == ["lasting"])
        #expect([base.name, ending.name, lasting.name] == ["base", "ending", "lasting"])
        // Time is a property of the context: advancing one context advances no other.
        let other = ManualContext()
        base.advance(by: .seconds(60))
        #expect(other.now == ContextInstant(nanoseconds: 0))
    }
}
