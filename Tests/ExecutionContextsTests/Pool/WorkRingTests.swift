import Dispatch
import ExecutionContexts
import Synchronization
import TestSupport
import Testing

/// Each job that is appended to a ring is taken once, by its owner or by a thief.
@Suite(.patient)
struct WorkRingTests {
    /// A ring that threads share.
    private final class Shared: @unchecked Sendable {
        // Unchecked: the tests check that threads may share it, one of them as its owner.
        let ring = WorkRing()
    }

    @Test func `A ring keeps the order of its jobs, however often it wraps around`() {
        let ring = WorkRing()
        let order = Box<[Int]>([])
        var added = 0
        for round in 0..<100 {
            for _ in 0..<(round % 7 + 1) {
                let number = added
                #expect(ring.append { order.withValue { $0.append(number) } } == UInt32(ring.count))
                added += 1
            }
            for _ in 0..<(round % 5 + 1) { ring.take()?() }
        }
        while let work = ring.take() { work() }
        #expect(order.value == Array(0..<added))
    }

    @Test func `A ring reports when it is full, and frees the remaining jobs with itself`() {
        let sentinels = Sentinels()
        do {
            let ring = WorkRing()
            while ring.hasRoom {
                let sentinel = sentinels.make()
                _ = ring.append { withExtendedLifetime(sentinel) {} }
            }
            #expect(ring.count == Int(WorkRing.capacity) && sentinels.living == ring.count)
            _ = ring.take()
            #expect(ring.hasRoom && sentinels.living == ring.count)
        }
        #expect(sentinels.living == 0)
    }

    @Test(arguments: [2, 3, 8, 255])
    func `A thief takes the first half, in order`(_ count: Int) {
        let ring = WorkRing()
        let other = WorkRing()
        let order = Box<[Int]>([])
        for number in 0..<count { _ = ring.append { order.withValue { $0.append(number) } } }
        ring.steal(into: other, takesLast: false)?()
        while let work = other.take() { work() }
        let half = count - count / 2
        #expect(order.value == Array(0..<half))
        #expect(ring.count == count - half)
    }

    @Test func `A thief leaves a single job, unless it may take the last one`() {
        let ring = WorkRing()
        let other = WorkRing()
        #expect(ring.steal(into: other, takesLast: true) == nil)
        _ = ring.append {}
        #expect(ring.steal(into: other, takesLast: false) == nil)
        #expect(ring.steal(into: other, takesLast: true) != nil)
        #expect(ring.count == 0 && other.count == 0)
    }

    @Test(arguments: [0, 1, 100, 256, 300])
    func `All jobs but the last ones are moved to a queue, in order`(_ rest: UInt32) {
        let ring = WorkRing()
        let order = Box<[Int]>([])
        // So that the queued jobs wrap around the end of the ring.
        for _ in 0..<200 { _ = ring.append {} }
        while ring.take() != nil {}
        for number in 0..<256 { _ = ring.append { order.withValue { $0.append(number) } } }
        var queue = WorkQueue()
        ring.move(to: &queue, allBut: rest)
        #expect(queue.count == 256 - Int(min(rest, 256)) && queue.count + ring.count == 256)
        while let work = queue.popFirst() { work() }
        while let work = ring.take() { work() }
        #expect(order.value == Array(0..<256))
    }

    @Test func `Unmanaged work runs as the closure that it was made from, and is freed once`() {
        let (sentinels, runs) = (Sentinels(), Box(0))
        func unmanaged() -> UnmanagedWork {
            let sentinel = sentinels.make()
            return UnmanagedWork { withExtendedLifetime(sentinel) { runs.withValue { $0 += 1 } } }
        }
        let (first, second) = (unmanaged(), unmanaged())
        #expect(sentinels.living == 2)
        first.assembled()()
        #expect(runs.value == 1 && sentinels.living == 1)
        _ = second.assembled()
        #expect(runs.value == 1 && sentinels.living == 0)
        // A closure that the test keeps, and one that captures nothing.
        let sentinel = sentinels.make()
        let kept: Work = { withExtendedLifetime(sentinel) { runs.withValue { $0 += 1 } } }
        UnmanagedWork(kept).assembled()()
        kept()
        UnmanagedWork {}.assembled()()
        #expect(runs.value == 3)
    }

    @Test func `Thieves and the owner take every job once, and free it`() async {
        await watched {
            let (shared, sentinels) = (Shared(), Sentinels())
            let count = rounds(debug: 20_000, release: 2_000_000)
            let runs = (0..<count).map { _ in Tick() }
            let isOver = Box(false)
            let thief: @Sendable () -> Void = {
                let own = WorkRing()
                while !isOver.value {
                    shared.ring.steal(into: own, takesLast: true)?()
                    while let work = own.take() { work() }
                }
            }
            let owner: @Sendable () -> Void = {
                var rng = SeededRNG(seed: 1)
                var added = 0
                while added < count {
                    for _ in 0..<rng.next(below: 20) where added < count && shared.ring.hasRoom {
                        let (tick, sentinel) = (
                            runs[added], added % 100 == 0 ? sentinels.make() : nil
                        )
                        _ = shared.ring.append { withExtendedLifetime(sentinel) { tick.hit() } }
                        added += 1
                    }
                    for _ in 0..<rng.next(below: 10) { shared.ring.take()?() }
                }
                while let work = shared.ring.take() { work() }
                waitUntil { runs.allSatisfy { $0.count > 0 } }
                isOver.value = true
            }
            onThreads([owner, thief, thief])
            #expect(runs.allSatisfy { $0.count == 1 })
            #expect(sentinels.living == 0)
        }
    }

    private final class Tick: Sendable {
        private let hits = Atomic<Int>(0)
        // Relaxed, both: the ring orders the jobs, and the count is read again and again.
        var count: Int { hits.load(ordering: .relaxed) }
        func hit() { hits.add(1, ordering: .relaxed) }
    }
}
