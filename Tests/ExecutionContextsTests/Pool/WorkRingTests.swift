import Dispatch
import ExecutionContexts
import Synchronization
import Testing

/// What one adds to a ring comes out of it once, whoever takes it.
@Suite(.timeLimit(.minutes(30)))
struct WorkRingTests {
    /// A ring that threads can share.
    private final class Shared: @unchecked Sendable {
        // Unchecked: that threads may share it, one of them as its owner, is what is tested.
        let ring = WorkRing()
    }

    @Test func `A ring is a line, however often it goes round`() {
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

    @Test func `A ring says when it is full, and what is left in it is freed with it`() {
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

    @Test func `A thief leaves a single piece, unless it is told to take it`() {
        let ring = WorkRing()
        let other = WorkRing()
        #expect(ring.steal(into: other, takesLast: true) == nil)
        _ = ring.append {}
        #expect(ring.steal(into: other, takesLast: false) == nil)
        #expect(ring.steal(into: other, takesLast: true) != nil)
        #expect(ring.count == 0 && other.count == 0)
    }

    @Test(arguments: [0, 1, 100, 256, 300])
    func `All but the last are moved to a queue, in order`(_ rest: UInt32) {
        let ring = WorkRing()
        let order = Box<[Int]>([])
        // So that the line goes round the end of the ring.
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

    @Test func `Work that is taken apart is one piece, with what it captures, and is freed once`() {
        let (sentinels, runs) = (Sentinels(), Box(0))
        func loose() -> LooseWork {
            let sentinel = sentinels.make()
            return LooseWork { withExtendedLifetime(sentinel) { runs.withValue { $0 += 1 } } }
        }
        let (first, second) = (loose(), loose())
        #expect(sentinels.living == 2)
        first.assembled()()
        #expect(runs.value == 1 && sentinels.living == 1)
        _ = second.assembled()
        #expect(runs.value == 1 && sentinels.living == 0)
        // One that somebody keeps, and one that captures nothing.
        let sentinel = sentinels.make()
        let kept: Work = { withExtendedLifetime(sentinel) { runs.withValue { $0 += 1 } } }
        LooseWork(kept).assembled()()
        kept()
        LooseWork {}.assembled()()
        #expect(runs.value == 3)
    }

    @Test func `Thieves and the owner take every piece once, and free it`() async {
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
                var dice = Dice(seed: 1)
                var added = 0
                while added < count {
                    for _ in 0..<dice.roll(20) where added < count && shared.ring.hasRoom {
                        let (tick, sentinel) = (runs[added], added % 100 == 0 ? sentinels.make() : nil)
                        _ = shared.ring.append { withExtendedLifetime(sentinel) { tick.hit() } }
                        added += 1
                    }
                    for _ in 0..<dice.roll(10) { shared.ring.take()?() }
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
        // Relaxed, both: the ring orders what it hands over, and the count is read again and again.
        var count: Int { hits.load(ordering: .relaxed) }
        func hit() { hits.add(1, ordering: .relaxed) }
    }
}
