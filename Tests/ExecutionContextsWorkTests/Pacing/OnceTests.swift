import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

@Suite(.patient)
struct OnceTests {
    @Test func `Only the first caller claims it`() {
        let once = Once()
        #expect(!once.isClaimed)
        var ran = 0
        #expect(once { ran += 1 })
        #expect(!once { ran += 1 })
        #expect(!once.claim())
        #expect(once.isClaimed)
        #expect(ran == 1)
    }

    @Test func `A body that throws keeps the claim`() {
        struct Failure: Error {}
        let once = Once()
        #expect(throws: Failure.self) { try once { () throws(Failure) in throw Failure() } }
        #expect(!once.claim())
    }

    @Test func `Exactly one of sixteen threads is the first`() async {
        await offThePool {
            for _ in 0..<rounds(debug: 300, release: 3000) {
                let once = Once()
                let winners = Box(0)
                onThreads(16) { _ in once { winners.withValue { $0 += 1 } } }
                #expect(winners.value == 1)
                #expect(once.isClaimed)
            }
        }
    }

    @Test
    func `Law 33: under every schedule exactly one caller is the first, and all see the claim`()
        async
    {
        await underEverySchedule("once") { sim, _ in
            let once = Once()
            let winners = Box(0)
            for name in ["a", "b", "c"] {
                sim.spawn(name) {
                    sim.step()
                    once { winners.withValue { $0 += 1 } }
                    sim.step()
                    if !once.isClaimed { winners.value = -1 }
                }
            }
            sim.finally("one winner") { winners.value == 1 }
        }
    }
}
