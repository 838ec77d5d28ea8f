import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Law 23: when, and on which thread, values die.
@Suite(.patient)
struct ThreadLocalLifetimeTests {
    @Test func `Law 23: values die with their thread, on that thread`() async {
        await offThePool {
            let census = Census()
            let locals = (0..<50).map { number in
                ThreadLocalValue<Resident> { _ in Resident(census, number: number) }
            }
            OwnThread.onEach(8) { _ in
                for (number, local) in locals.enumerated() {
                    #expect(local.value()?.number == number)
                }
            }
            census.waitForAll()
            #expect(census.deaths.value == 400)
            #expect(census.strays.value == 0)
        }
    }

    @Test
    func
        `Law 23: values with a key die on their thread when it ends, even if its Thread object lives`()
        async
    {
        await offThePool {
            let census = Census()
            let local = ThreadLocalValue<Resident>(namespace: "law", key: "23") { _ in
                Resident(census)
            }
            let threads = (0..<8).map { _ in Thread { _ = local.value() } }
            for thread in threads { thread.start() }
            withExtendedLifetime(threads) { Self.wait(until: { census.deaths.value == 8 }) }
            #expect(census.strays.value == 0)
            for thread in threads { #expect(thread.threadDictionary["law.23"] == nil) }
        }
    }

    @Test
    func
        `Law 23: deinits at the end of a thread may use thread-locals: their own, others, new ones`()
        async
    {
        await offThePool {
            let census = Census()
            let seen = Box<[String]>([])
            let other = ThreadLocalValue<Resident>()
            let keyed = ThreadLocalValue<Resident>(namespace: "law 23", key: "at the end")
            let this = ThreadLocalValue<Resident>()
            for round in 0..<20 {
                let thread = OwnThread()
                thread.run {
                    if round % 2 == 0 { other.set(Resident(census)) }
                    this.set(
                        Resident(census) {
                            // A value leaves the table before its deinit runs, so no use sees it.
                            if this.value() != nil { seen.withValue { $0.append("itself") } }
                            this.set(Resident(census) { other.set(Resident(census)) })
                            other.set(Resident(census) { keyed.set(Resident(census)) })
                            let fresh = (0..<100).map { _ in ThreadLocalValue<Resident>() }
                            for local in fresh { local.set(Resident(census)) }
                            fresh[50].set(nil)
                        })
                }
                thread.end()
                census.waitForAll()
            }
            #expect(seen.value == [])
            #expect(census.strays.value == 0)
        }
    }

    @Test func `Law 23: a deinit that runs during the replacement of its value sees the new one`()
        async
    {
        await offThePool {
            let census = Census()
            let seen = Box<[Int?]>([])
            let local = ThreadLocalValue<Resident>()
            OwnThread.onEach(1) { _ in
                local.set(
                    Resident(census, number: 1) {
                        seen.withValue { $0.append(local.value()?.number) }
                    })
                local.set(
                    Resident(census, number: 2) {
                        seen.withValue { $0.append(local.value()?.number) }
                    })
                local.set(nil)
                // A deinit that sets a value: it is there when the call returns.
                local.set(Resident(census) { local.set(Resident(census, number: 3)) })
                local.set(nil)
                #expect(local.value()?.number == 3)
            }
            census.waitForAll()
            #expect(seen.value == [2, nil])
        }
    }

    @Test
    func `Law 23: a deinit that runs during the replacement of a compound value sees no mixture`()
        async
    {
        struct Pair { let first: Resident, second: Resident }
        await offThePool {
            let census = Census()
            let seen = Box<[Int]>([])
            let local = ThreadLocalValue<Pair>()
            let look: () -> Void = {
                guard let pair = local.value() else { return }
                seen.withValue { $0 += [pair.first.number, pair.second.number] }
            }
            local.set(
                Pair(first: Resident(census, last: look), second: Resident(census, last: look)))
            local.set(Pair(first: Resident(census, number: 1), second: Resident(census, number: 1)))
            #expect(seen.value == [1, 1, 1, 1])
            local.set(nil)
            #expect(census.living.value == 0)
        }
    }

    @Test
    func
        `Law 23: a thread frees its value of a released thread-local at its next use of any other`()
        async
    {
        await offThePool {
            let census = Census()
            let kept = ThreadLocalValue<Int> { _ in 1 }
            let uses: [@Sendable () -> Void] = [
                { _ = kept.value() }, { _ = kept.cachedValue() }, { kept.set(5) },
                { kept.set(nil) },
                { kept.withValue(3) {} }, { _ = ThreadLocalValue<Int>().value() },
            ]
            let thread = OwnThread()
            for use in uses {
                // Made and released on this thread, used on the other one.
                do {
                    let released = ThreadLocalValue<Resident> { _ in Resident(census) }
                    thread.run {
                        _ = released.value()
                        _ = kept.value()
                    }
                }
                #expect(census.living.value == 1)
                thread.run(use)
                #expect(census.living.value == 0)
            }
            thread.end()
            #expect(census.strays.value == 0)
        }
    }

    @Test func `Law 23: a thread frees its value of a released thread-local at its end`() async {
        await offThePool {
            let census = Census()
            let threads = (0..<4).map { _ in OwnThread() }
            do {
                let released = ThreadLocalValue<Resident> { _ in Resident(census) }
                for thread in threads { thread.run { _ = released.value() } }
            }
            #expect(census.living.value == 4)
            for thread in threads { thread.end() }
            census.waitForAll()
            #expect(census.strays.value == 0)
        }
    }

    @Test func `Law 23: the thread that releases a thread-local frees its own value at once`() async
    {
        await offThePool {
            let census = Census()
            for _ in 0..<100 {
                do {
                    let local = ThreadLocalValue<Resident> { _ in Resident(census) }
                    _ = local.value()
                }
                #expect(census.living.value == 0)
            }
        }
    }

    @Test func `Law 23: a chain of thread-locals, each in a value of the next, dies with the last`()
        async
    {
        final class Link {
            let resident: Resident
            let next: ThreadLocalValue<Link>?
            init(_ census: Census, _ next: ThreadLocalValue<Link>?) {
                resident = Resident(census)
                self.next = next
            }
        }
        await offThePool {
            let census = Census()
            OwnThread.onEach(2) { _ in
                var outermost: ThreadLocalValue<Link>?
                for _ in 0..<200 {
                    let inner = outermost
                    let local = ThreadLocalValue<Link>()
                    local.set(Link(census, inner))
                    outermost = local
                }
                #expect(census.living.value >= 200)
                outermost = nil
            }
            census.waitForAll()
            #expect(census.strays.value == 0)
        }
    }

    @Test func `Law 23: a reused table entry never shows its former value`() async {
        await offThePool {
            let thread = OwnThread()
            for number in 0..<10_000 {
                let local = ThreadLocalValue<Int>()
                #expect(local.cachedValue() == nil)
                local.set(number)
                thread.run {
                    if local.cachedValue() != nil { Issue.record("an old value is seen") }
                    local.set(-number)
                }
                #expect(local.cachedValue() == number)
            }
            thread.end()
        }
    }

    @Test func `Law 23: there are as many table entries as thread-locals that live at a time`()
        async
    {
        await offThePool {
            let census = Census()
            // Other tests run meanwhile, but without thousands of thread-locals.
            var largest: UInt32 = 0
            for _ in 0..<10_000 {
                let local = ThreadLocalValue<Resident> { _ in Resident(census) }
                _ = local.value()
                largest = max(largest, local.placeInTable)
            }
            #expect(largest < 5_000)
            #expect(census.living.value == 0)
            #expect(census.deaths.value == 10_000)
        }
    }

    /// Returns when the condition holds. Another thread is about to make it true.
    private static func wait(until condition: () -> Bool) {
        while !condition() { sched_yield() }
    }
}
