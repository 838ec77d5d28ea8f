import ExecutionContexts
import ExecutionContextsTesting

/// Work-stealing queues: the owner takes from the tail without a lock, and thieves take from the
/// head under one.
///
/// As the variants `WSQ`, `IWSQ` and `SWSQ` of SCTBench.
extension SeededBug {
    static let suiteStealing: [SeededBug] = [
        tailAfterHead, headAfterTail, unlockedThieves, lastWithoutLock,
    ]

    private enum Fault { case tailAfterHead, headAfterTail, unlockedThieves, lastWithoutLock }

    /// The owner and a thief each announce what they are about to take, and then look at what the
    /// other has announced. If the owner sees a conflict, it tries again under the lock.
    private struct StealingQueue: Sendable {
        let fault: Fault?
        private let section = CriticalSection(name: "thieves")
        private let head = Tracked(0, name: "head")
        private let tail = Tracked(2, name: "tail")
        private let takes = Tracked([0, 0], name: "takes")

        init(_ fault: Fault?) { self.fault = fault }

        func take() throws {
            let last = tail.value - 1
            let early = fault == .tailAfterHead ? head.value : nil
            tail.value = last
            if (early ?? head.value) <= last { return try use(last) }
            tail.value = last + 1
            let again = { @Sendable () -> Bool in
                tail.value = last
                if head.value <= last { return true }
                tail.value = last + 1
                return false
            }
            if fault == .lastWithoutLock ? again() : section.execute(again) { try use(last) }
        }

        func steal() throws {
            let first = fault == .unlockedThieves ? announce() : section.execute(announce)
            if let first { try use(first) }
        }

        private func announce() -> Int? {
            let first = head.value
            let early = fault == .headAfterTail ? tail.value : nil
            head.value = first + 1
            if first < (early ?? tail.value) { return first }
            head.value = first
            return nil
        }

        var isTaken: Bool { takes.value == [1, 1] }

        /// Counts what is taken; no other thread comes between.
        private func use(_ index: Int) throws {
            let isTaken = section.execute {
                takes.value[index] += 1
                return takes.value[index] > 1
            }
            try require(!isTaken, "element \(index) is taken twice")
        }
    }

    /// An owner that takes both elements, and thieves; the fault may show in another way than as an
    /// element that is taken twice.
    private static func stealing(
        _ name: String, _ fault: Fault, _ other: SimulationFailure.Kind = .threw, thieves: Int = 1,
        depth: Int
    ) -> SeededBug {
        SeededBug(name, .threw, other, depth: depth) { sim, isMended in
            let queue = StealingQueue(isMended ? nil : fault)
            sim.spawn("owner") { for _ in 1...2 { try queue.take() } }
            for index in 1...thieves {
                sim.spawn("thief \(index)") { try queue.steal() }
            }
            sim.finally("both are taken") { queue.isTaken }
        }
    }

    /// The owner looks at the head before it announces that it takes the last element.
    static let tailAfterHead = stealing("owner looks before it announces", .tailAfterHead, depth: 1)

    /// A thief looks at the tail before it announces that it takes the first element.
    static let headAfterTail = stealing("thief looks before it announces", .headAfterTail, depth: 2)

    /// Two thieves announce the same element, as they share no lock.
    static let unlockedThieves = stealing(
        "two thieves without a lock", .unlockedThieves, .invariant, thieves: 2, depth: 2)

    /// The owner that sees a conflict tries again without the lock. Both it and the thief yield.
    static let lastWithoutLock = stealing(
        "element left after a conflict", .lastWithoutLock, .invariant, depth: 2)
}
