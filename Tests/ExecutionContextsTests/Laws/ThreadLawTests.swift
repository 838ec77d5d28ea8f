import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Laws 11 and 12: threads, and what is shared.
@Suite(.timeLimit(.minutes(30)))
struct ThreadLawTests {
    @Test func `Law 11: a thousand views over a pool run on the pool's threads`() async {
        // A base with one thread: if any view made a thread of its own, its work would be seen there.
        let base = RunLoopThreadContext(name: "the only thread")
        let strangers = Box(0)
        await withCheckedContinuation { continuation in
            let left = Box(3_000)
            for index in 0..<1_000 {
                let views: [any ExecutionContext] = [
                    base.serial("serial \(index)"), base.limited(to: 2), base.barrier(),
                ]
                for view in views {
                    view.execute {
                        if base.isCurrent != true { strangers.withValue { $0 += 1 } }
                        if left.withValue({
                            $0 -= 1; return $0 == 0
                        }) {
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(strangers.value == 0)
    }

    @Test func `Law 11: blocking work has threads up to its limit, and the rest waits in order`() async {
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
            // Four block at a time although each needs a thread, and no fifth starts.
            for _ in 0..<4 { started.wait() }
            #expect(inside.value.now == 4)
            for _ in 0..<12 { mayEnd.signal() }
            done.wait()
            #expect(inside.value.most == 4)
        }
    }

    @Test func `Law 11: work that blocks does not keep the pool's other work from running`() async {
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

    @Test func `Law 12: two views of one context, and two tests, share nothing that can be set`() async throws
    {
        // What a view is given stays with it: names, limits, observers, tokens.
        let base = ManualContext(name: "base")
        let token = InvalidationToken()
        let ending = base.named("ending").while(token)
        let lasting = base.named("lasting")
        token.invalidate()
        let ran = Box<[String]>([])
        ending.execute { ran.withValue { $0.append("ending") } }
        lasting.execute { ran.withValue { $0.append("lasting") } }
        base.runReady()
        #expect(ran.value == ["lasting"])
        #expect([base.name, ending.name, lasting.name] == ["base", "ending", "lasting"])
        // Time is a property of the context: moving one on moves no other.
        let other = ManualContext()
        base.advance(by: .seconds(60))
        #expect(other.now == Moment(nanoseconds: 0))
    }
}
