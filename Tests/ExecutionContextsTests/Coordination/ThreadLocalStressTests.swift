import Dispatch
import ExecutionContexts
import Foundation
import Testing

/// Threads that use many thread-locals while others make and drop them.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct ThreadLocalStressTests {
    /// A value that knows whose it is; checked each time it is seen.
    private final class Claim: @unchecked Sendable {
        // Unchecked: it stays on its thread, which is what the tests check.
        let thread: Int
        let local: Int
        let resident: Resident

        init(_ census: Census, thread: Int, local: Int) {
            self.thread = thread
            self.local = local
            resident = Resident(census)
        }
    }

    private struct Shelf: Sendable {
        let number: Int
        let local: ThreadLocalValue<Claim>
    }

    @Test func `Laws 22, 23: no thread ever sees a value that is not its own, and none is lost`() async {
        await offThePool {
            let census = Census()
            let errors = Box(0)
            let shelves = Box((0..<64).map { Shelf(number: $0, local: ThreadLocalValue()) })
            let numbers = Box(64)
            OwnThread.onEach(6) { thread in
                var random = Dice(seed: UInt64(thread + 1))
                for _ in 0..<20_000 {
                    let index = Int(random.next() % 64)
                    if random.next() % 32 == 0 {
                        let number = numbers.withValue {
                            $0 += 1; return $0
                        }
                        let fresh = Shelf(number: number, local: ThreadLocalValue())
                        // The old one goes here, or wherever it is in use still.
                        var old: Shelf?
                        shelves.withValue {
                            old = $0[index]
                            $0[index] = fresh
                        }
                        withExtendedLifetime(old) {}
                        continue
                    }
                    let shelf = shelves.withValue { $0[index] }
                    if let claim = shelf.local.cachedValue() {
                        if claim.thread != thread || claim.local != shelf.number {
                            errors.withValue { $0 += 1 }
                        }
                    }
                    switch random.next() % 8 {
                    case 0: shelf.local.set(nil)
                    case 1, 2: shelf.local.set(Claim(census, thread: thread, local: shelf.number))
                    case 3:
                        shelf.local.withValue(Claim(census, thread: thread, local: shelf.number)) {
                            if shelf.local.value()?.local != shelf.number { errors.withValue { $0 += 1 } }
                        }
                    default: break
                    }
                }
            }
            shelves.value = []
            census.waitForAll()
            #expect(errors.value == 0)
            #expect(census.strays.value == 0)
        }
    }

    @Test func `Law 23: thread-locals that are dropped while threads end lose no value and free none twice`()
        async
    {
        await offThePool {
            let census = Census()
            for round in 0..<300 {
                let shelves = Box<[ThreadLocalValue<Resident>]>(
                    (0..<8).map { _ in ThreadLocalValue { _ in Resident(census) } })
                // Some threads end while one of them still drops, and the records go to the next round's.
                OwnThread.onEach(3) { thread in
                    for local in shelves.value { _ = local.value() }
                    if thread == round % 3 {
                        for _ in 0..<8 {
                            let last = shelves.withValue { $0.removeLast() }
                            withExtendedLifetime(last) {}
                        }
                    }
                }
            }
            census.waitForAll()
            #expect(census.strays.value == 0)
        }
    }

    @Test func `Law 23: a thread that uses one thread-local only still frees those of others that go`() async
    {
        await offThePool {
            let census = Census()
            let kept = ThreadLocalValue<Int> { _ in 0 }
            let mailbox = Box<ThreadLocalValue<Resident>?>(nil)
            let isOver = Box(false)
            let most = Box(0)
            OwnThread.onEach(2) { thread in
                if thread == 0 {
                    while !isOver.value {
                        _ = mailbox.value?.value()
                        for _ in 0..<10 { kept.set(kept.value()! + 1) }
                    }
                } else {
                    for _ in 0..<20_000 {
                        mailbox.value = ThreadLocalValue { _ in Resident(census) }
                        most.withValue { $0 = max($0, census.living.value) }
                    }
                    mailbox.value = nil
                    isOver.value = true
                }
            }
            census.waitForAll()
            #expect(census.strays.value == 0)
        }
    }
}
