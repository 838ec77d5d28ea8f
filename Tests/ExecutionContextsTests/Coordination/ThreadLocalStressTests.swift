import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Threads that use many thread-locals while other threads make and release them.
@Suite(.serialized, .patient)
struct ThreadLocalStressTests {
    /// A value that names its thread and its thread-local. Every use checks them.
    private final class OwnedValue: @unchecked Sendable {
        // Unchecked: it stays on its thread, which the tests check.
        let thread: Int
        let local: Int
        let resident: Resident

        init(_ census: Census, thread: Int, local: Int) {
            self.thread = thread
            self.local = local
            resident = Resident(census)
        }
    }

    private struct Slot: Sendable {
        let number: Int
        let local: ThreadLocalValue<OwnedValue>
    }

    @Test func `Laws 22, 23: no thread sees the value of another one, and no value leaks`() async {
        await offThePool {
            let census = Census()
            let errors = Box(0)
            let slots = Box((0..<64).map { Slot(number: $0, local: ThreadLocalValue()) })
            let numbers = Box(64)
            OwnThread.onEach(6) { thread in
                var random = SeededRNG(seed: UInt64(thread + 1))
                for _ in 0..<20_000 {
                    let index = Int(random.next() % 64)
                    if random.next() % 32 == 0 {
                        let number = numbers.withValue {
                            $0 += 1; return $0
                        }
                        let fresh = Slot(number: number, local: ThreadLocalValue())
                        // The old one dies here, or with its last use on another thread.
                        var old: Slot?
                        slots.withValue {
                            old = $0[index]
                            $0[index] = fresh
                        }
                        withExtendedLifetime(old) {}
                        continue
                    }
                    let slot = slots.withValue { $0[index] }
                    if let value = slot.local.cachedValue() {
                        if value.thread != thread || value.local != slot.number {
                            errors.withValue { $0 += 1 }
                        }
                    }
                    switch random.next() % 8 {
                    case 0: slot.local.set(nil)
                    case 1, 2:
                        slot.local.set(OwnedValue(census, thread: thread, local: slot.number))
                    case 3:
                        slot.local.withValue(OwnedValue(census, thread: thread, local: slot.number))
                        {
                            if slot.local.value()?.local != slot.number {
                                errors.withValue { $0 += 1 }
                            }
                        }
                    default: break
                    }
                }
            }
            slots.value = []
            census.waitForAll()
            #expect(errors.value == 0)
            #expect(census.strays.value == 0)
        }
    }

    @Test func `Law 23: releasing thread-locals while threads end frees each value once`()
        async
    {
        await offThePool {
            let census = Census()
            for round in 0..<300 {
                let locals = Box<[ThreadLocalValue<Resident>]>(
                    (0..<8).map { _ in ThreadLocalValue { _ in Resident(census) } })
                // Some threads end while one still releases. The next round reuses their records.
                OwnThread.onEach(3) { thread in
                    for local in locals.value { _ = local.value() }
                    if thread == round % 3 {
                        for _ in 0..<8 {
                            let last = locals.withValue { $0.removeLast() }
                            withExtendedLifetime(last) {}
                        }
                    }
                }
            }
            census.waitForAll()
            #expect(census.strays.value == 0)
        }
    }

    @Test
    func `Law 23: a thread that uses a single thread-local frees its values of released ones`()
        async
    {
        await offThePool {
            let census = Census()
            let kept = ThreadLocalValue<Int> { _ in 0 }
            let shared = Box<ThreadLocalValue<Resident>?>(nil)
            let isOver = Box(false)
            let most = Box(0)
            OwnThread.onEach(2) { thread in
                if thread == 0 {
                    while !isOver.value {
                        _ = shared.value?.value()
                        for _ in 0..<10 { kept.set(kept.value()! + 1) }
                    }
                } else {
                    for _ in 0..<20_000 {
                        shared.value = ThreadLocalValue { _ in Resident(census) }
                        most.withValue { $0 = max($0, census.living.value) }
                    }
                    shared.value = nil
                    isOver.value = true
                }
            }
            census.waitForAll()
            #expect(census.strays.value == 0)
        }
    }
}
