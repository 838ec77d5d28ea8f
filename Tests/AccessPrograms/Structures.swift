import Foundation
import Synchronization

// Textbook structures, as people write them. The faulty one has one order too weak, a fence too
// few, or a number too few.

/// The store of each thread may become visible after its load of the other one.
// Unchecked: what orders its accesses, or does not, is the subject; so it is below.
private final class Flags: @unchecked Sendable {
    let first = Atomic(0)
    let second = Atomic(0)
    let turn = Atomic(0)
    var seen = (0, 0)
    var count = 0
}

/// An atomic in an array.
private final class Cell: Sendable {
    let value: Atomic<Int>
    init(_ value: Int) { self.value = Atomic(value) }
}

/// Peterson's lock for two threads.
private final class Peterson: @unchecked Sendable {
    private let wants = [Cell(0), Cell(0)]
    private let turn = Atomic(0)
    private let isMended: Bool
    var count = 0
    init(isMended: Bool) { self.isMended = isMended }

    func add(_ own: Int) {
        let other = 1 - own
        if isMended {
            wants[own].value.store(1, ordering: .sequentiallyConsistent)
            turn.store(other, ordering: .sequentiallyConsistent)
            while wants[other].value.load(ordering: .sequentiallyConsistent) == 1,
                turn.load(ordering: .sequentiallyConsistent) == other
            {}
        } else {
            wants[own].value.store(1, ordering: .releasing)
            turn.store(other, ordering: .releasing)
            while wants[other].value.load(ordering: .acquiring) == 1,
                turn.load(ordering: .acquiring) == other
            {}
        }
        count += 1
        wants[own].value.store(0, ordering: .releasing)
    }
}

/// A lock that serves its callers in the order of their numbers.
private final class Ticket: @unchecked Sendable {
    private let next = Atomic(0)
    private let served = Atomic(0)
    private let isMended: Bool
    var count = 0
    init(isMended: Bool) { self.isMended = isMended }

    func add() {
        let mine = next.add(1, ordering: .relaxed).oldValue
        while served.load(ordering: .acquiring) != mine {}
        count += 1
        if isMended {
            served.store(mine + 1, ordering: .releasing)
        } else {
            served.store(mine + 1, ordering: .relaxed)
        }
    }
}

/// The lock of Mellor-Crummey and Scott: each thread waits at its own place.
private final class Places: @unchecked Sendable {
    private let last = Atomic(0)
    private let next = [Cell(0), Cell(0), Cell(0)]
    private let waits = [Cell(0), Cell(0), Cell(0)]
    private let isMended: Bool
    var count = 0
    init(isMended: Bool) { self.isMended = isMended }

    func add(_ thread: Int) {
        waits[thread].value.store(1, ordering: .relaxed)
        let before = last.exchange(thread, ordering: .acquiringAndReleasing)
        if before != 0 {
            next[before].value.store(thread, ordering: .releasing)
            while waits[thread].value.load(ordering: .acquiring) == 1 {}
        }
        count += 1
        if next[thread].value.load(ordering: .acquiring) == 0 {
            let (isLast, _) = last.compareExchange(
                expected: thread, desired: 0, successOrdering: .releasing, failureOrdering: .relaxed
            )
            if isLast { return }
            while next[thread].value.load(ordering: .acquiring) == 0 {}
        }
        let follower = waits[next[thread].value.load(ordering: .acquiring)]
        if isMended {
            follower.value.store(0, ordering: .releasing)
        } else {
            follower.value.store(0, ordering: .relaxed)
        }
    }
}

/// A pair of numbers that readers copy without a lock, and again if a writer was there.
private final class Sequenced: Sendable {
    private let sequence = Atomic(0)
    private let (one, other) = (Cell(0), Cell(0))
    private let isMended: Bool
    init(isMended: Bool) { self.isMended = isMended }

    func write(_ number: Int) {
        let before = sequence.load(ordering: .relaxed)
        sequence.store(before + 1, ordering: .relaxed)
        atomicMemoryFence(ordering: .releasing)
        one.value.store(number, ordering: .relaxed)
        other.value.store(number, ordering: .relaxed)
        sequence.store(before + 2, ordering: .releasing)
    }

    /// The pair; nil if it was written meanwhile.
    func read() -> (Int, Int)? {
        let before = sequence.load(ordering: .acquiring)
        if before % 2 != 0 { return nil }
        let copy = (one.value.load(ordering: .relaxed), other.value.load(ordering: .relaxed))
        if isMended { atomicMemoryFence(ordering: .acquiring) }
        return sequence.load(ordering: .relaxed) == before ? copy : nil
    }
}

/// Treiber's stack, of nodes that are used again. The first node has a number, so that no exchange
/// takes a node that was removed and came back for one that has stayed.
private final class Treiber: Sendable {
    private let first: Atomic<WordPair>
    private let next = [Cell(0), Cell(2), Cell(0)]
    private let isMended: Bool

    /// With nodes 1 and 2.
    init(isMended: Bool) {
        self.isMended = isMended
        first = Atomic(WordPair(first: 1, second: 0))
    }

    func push(_ node: UInt) {
        var old = first.load(ordering: .relaxed)
        while true {
            next[Int(node)].value.store(Int(old.first), ordering: .relaxed)
            let new = WordPair(first: node, second: old.second + (isMended ? 1 : 0))
            let (done, found) = first.compareExchange(
                expected: old, desired: new, successOrdering: .releasing, failureOrdering: .relaxed)
            if done { return }
            old = found
        }
    }

    /// The first node; zero for none.
    func pop() -> UInt {
        var old = first.load(ordering: .acquiring)
        while old.first != 0 {
            let following = next[Int(old.first)].value.load(ordering: .relaxed)
            let new = WordPair(first: UInt(following), second: old.second)
            let (done, found) = first.compareExchange(
                expected: old, desired: new, ordering: .acquiring)
            if done { return old.first }
            old = found
        }
        return 0
    }
}

/// The queue of Michael and Scott.
private final class Queue: @unchecked Sendable {
    // Unchecked: the queue's atomics order the accesses of the value, or do not.
    private final class Node: @unchecked Sendable {
        var value = 0
        let next = Atomic<UnsafeRawPointer?>(nil)

        // Unretained: `nodes` keeps each node as long as the queue, and the queue's users keep it.
        var pointer: UnsafeRawPointer {
            UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        }
        static func at(_ pointer: UnsafeRawPointer) -> Node {
            Unmanaged.fromOpaque(pointer).takeUnretainedValue()
        }
    }
    /// The first one, and one for each value.
    private let nodes = [Node(), Node(), Node()]
    private let head: Atomic<UnsafeRawPointer>
    private let tail: Atomic<UnsafeRawPointer>
    private let isMended: Bool

    init(isMended: Bool) {
        self.isMended = isMended
        head = Atomic(nodes[0].pointer)
        tail = Atomic(nodes[0].pointer)
    }

    func send(_ value: Int) {
        let node = nodes[value]
        node.value = value
        while true {
            let last = tail.load(ordering: .acquiring)
            if let next = Node.at(last).next.load(ordering: .acquiring) {
                _ = tail.compareExchange(expected: last, desired: next, ordering: .releasing)
                continue
            }
            let (done, _) =
                isMended
                ? Node.at(last).next.compareExchange(
                    expected: nil, desired: node.pointer, ordering: .releasing)
                : Node.at(last).next.compareExchange(
                    expected: nil, desired: node.pointer, ordering: .relaxed)
            guard done else { continue }
            if isMended {
                _ = tail.compareExchange(
                    expected: last, desired: node.pointer, ordering: .releasing)
            } else {
                _ = tail.compareExchange(expected: last, desired: node.pointer, ordering: .relaxed)
            }
            return
        }
    }

    func receive() -> Int? {
        while true {
            let first = head.load(ordering: .acquiring)
            guard let next = Node.at(first).next.load(ordering: .acquiring) else { return nil }
            let value = Node.at(next).value
            let (done, _) = head.compareExchange(
                expected: first, desired: next, ordering: .acquiringAndReleasing)
            if done { return value }
        }
    }
}

/// A reader says what it uses, by a hazard pointer; who replaces it frees what no reader uses.
private final class Hazard: @unchecked Sendable {
    private let data = UnsafeMutablePointer<Int>.allocate(capacity: 2)
    private let current = Atomic(0)
    private let hazard = Atomic(-1)
    private let isMended: Bool

    init(isMended: Bool) {
        self.isMended = isMended
        data.initialize(repeating: 0, count: 2)
    }
    deinit { data.deallocate() }

    func read() {
        let index = current.load(ordering: .acquiring)
        if isMended {
            hazard.store(index, ordering: .sequentiallyConsistent)
            guard current.load(ordering: .sequentiallyConsistent) == index else { return }
        } else {
            hazard.store(index, ordering: .releasing)
            guard current.load(ordering: .acquiring) == index else { return }
        }
        use(data[index])
        hazard.store(-1, ordering: .releasing)
    }

    func replace() {
        data[1] = 1
        let isUsed: Bool
        if isMended {
            current.store(1, ordering: .sequentiallyConsistent)
            isUsed = hazard.load(ordering: .sequentiallyConsistent) == 0
        } else {
            current.store(1, ordering: .releasing)
            isUsed = hazard.load(ordering: .acquiring) == 0
        }
        // Frees it.
        if !isUsed { data[0] = -1 }
    }
}

/// A reader says that it reads; who replaces waits until none does that may have the old value.
private final class ReadCopyUpdate: @unchecked Sendable {
    private let data = UnsafeMutablePointer<Int>.allocate(capacity: 2)
    private let current = Atomic(0)
    private let isReading = Atomic(false)
    private let isMended: Bool

    init(isMended: Bool) {
        self.isMended = isMended
        data.initialize(repeating: 0, count: 2)
    }
    deinit { data.deallocate() }

    func read() {
        isReading.store(true, ordering: .relaxed)
        if isMended { atomicMemoryFence(ordering: .sequentiallyConsistent) }
        use(data[current.load(ordering: .acquiring)])
        isReading.store(false, ordering: .releasing)
    }

    func replace() {
        data[1] = 1
        current.store(1, ordering: .releasing)
        if isMended { atomicMemoryFence(ordering: .sequentiallyConsistent) }
        while isReading.load(ordering: .acquiring) {}
        // Frees it.
        data[0] = -1
    }
}

/// The deque of Chase and Lev: its owner takes at one end, others steal at the other one.
private final class ChaseLev: Sendable {
    private let top = Atomic(0)
    private let bottom = Atomic(0)
    private let items = [Cell(0), Cell(0)]
    private let isMended: Bool
    init(isMended: Bool) { self.isMended = isMended }

    func push(_ item: Int) {
        let at = bottom.load(ordering: .relaxed)
        items[at].value.store(item, ordering: .relaxed)
        atomicMemoryFence(ordering: .releasing)
        bottom.store(at + 1, ordering: .relaxed)
    }

    /// Zero for none.
    func take() -> Int {
        let at = bottom.load(ordering: .relaxed) - 1
        bottom.store(at, ordering: .relaxed)
        if isMended {
            atomicMemoryFence(ordering: .sequentiallyConsistent)
        } else {
            atomicMemoryFence(ordering: .acquiringAndReleasing)
        }
        let first = top.load(ordering: .relaxed)
        guard first <= at else {
            bottom.store(at + 1, ordering: .relaxed)
            return 0
        }
        let item = items[at].value.load(ordering: .relaxed)
        guard first == at else { return item }
        let (done, _) = top.compareExchange(
            expected: first, desired: first + 1, successOrdering: .sequentiallyConsistent,
            failureOrdering: .relaxed)
        bottom.store(at + 1, ordering: .relaxed)
        return done ? item : 0
    }

    /// Zero for none.
    func steal() -> Int {
        let first = top.load(ordering: .acquiring)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        guard first < bottom.load(ordering: .acquiring) else { return 0 }
        let item = items[first].value.load(ordering: .relaxed)
        let (done, _) = top.compareExchange(
            expected: first, desired: first + 1, successOrdering: .sequentiallyConsistent,
            failureOrdering: .relaxed)
        return done ? item : 0
    }
}

/// A bounded queue of Vyukov's kind: each place has a number that says whose turn it is.
private final class Bounded: @unchecked Sendable {
    private let turns = [Cell(0), Cell(1)]
    private let values = UnsafeMutablePointer<Int>.allocate(capacity: 2)
    private let end = Atomic(0)
    private let start = Atomic(0)
    private let isMended: Bool
    init(isMended: Bool) {
        self.isMended = isMended
        values.initialize(repeating: 0, count: 2)
    }
    deinit { values.deallocate() }

    func send(_ value: Int) -> Bool {
        let at = end.load(ordering: .relaxed)
        guard turns[at % 2].value.load(ordering: .acquiring) == at,
            end.compareExchange(expected: at, desired: at + 1, ordering: .relaxed).exchanged
        else { return false }
        values[at % 2] = value
        if isMended {
            turns[at % 2].value.store(at + 1, ordering: .releasing)
        } else {
            turns[at % 2].value.store(at + 1, ordering: .relaxed)
        }
        return true
    }

    func receive() -> Int? {
        let at = start.load(ordering: .relaxed)
        guard turns[at % 2].value.load(ordering: .acquiring) == at + 1,
            start.compareExchange(expected: at, desired: at + 1, ordering: .relaxed).exchanged
        else { return nil }
        let received = values[at % 2]
        turns[at % 2].value.store(at + 2, ordering: .releasing)
        return received
    }
}

/// Threads that wait for one another.
private final class Barrier: @unchecked Sendable {
    private let left = Atomic(2)
    private let isOpen = Atomic(false)
    private let isMended: Bool
    var data = (0, 0)
    init(isMended: Bool) { self.isMended = isMended }

    func pass() {
        let isLast =
            isMended
            ? left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
            : left.subtract(1, ordering: .relaxed).newValue == 0
        if isLast {
            isOpen.store(true, ordering: .releasing)
        } else {
            while !isOpen.load(ordering: .acquiring) {}
        }
    }
}

extension Program {
    static let structures = [
        Program("two stores before two loads", .wrong) { isMended in
            let flags = Flags()
            if isMended {
                return Parts(
                    {
                        flags.first.store(1, ordering: .sequentiallyConsistent)
                        flags.seen.0 = flags.second.load(ordering: .sequentiallyConsistent)
                    },
                    {
                        flags.second.store(1, ordering: .sequentiallyConsistent)
                        flags.seen.1 = flags.first.load(ordering: .sequentiallyConsistent)
                    }, holds: { flags.seen != (0, 0) })
            }
            return Parts(
                {
                    flags.first.store(1, ordering: .releasing)
                    flags.seen.0 = flags.second.load(ordering: .acquiring)
                },
                {
                    flags.second.store(1, ordering: .releasing)
                    flags.seen.1 = flags.first.load(ordering: .acquiring)
                }, holds: { flags.seen != (0, 0) })
        },
        Program("two stores and fences before two loads", .wrong) { isMended in
            let flags = Flags()
            let fence = {
                if isMended {
                    atomicMemoryFence(ordering: .sequentiallyConsistent)
                } else {
                    atomicMemoryFence(ordering: .acquiringAndReleasing)
                }
            }
            return Parts(
                {
                    flags.first.store(1, ordering: .relaxed)
                    fence()
                    flags.seen.0 = flags.second.load(ordering: .relaxed)
                },
                {
                    flags.second.store(1, ordering: .relaxed)
                    fence()
                    flags.seen.1 = flags.first.load(ordering: .relaxed)
                }, holds: { flags.seen != (0, 0) })
        },
        Program("an atomic that a relaxed flag publishes", .wrong) { isMended in
            let flags = Flags()
            return Parts(
                {
                    flags.first.store(1, ordering: .relaxed)
                    if isMended {
                        flags.second.store(1, ordering: .releasing)
                    } else {
                        flags.second.store(1, ordering: .relaxed)
                    }
                },
                {
                    let isThere = flags.second.load(ordering: .acquiring) == 1
                    flags.seen = (isThere ? 1 : 0, flags.first.load(ordering: .relaxed))
                }, holds: { flags.seen != (1, 0) })
        },
        Program("two readers of two writers", .wrong) { isMended in
            let (flags, other) = (Flags(), Flags())
            let load = { (flag: borrowing Atomic<Int>) in
                isMended
                    ? flag.load(ordering: .sequentiallyConsistent) : flag.load(ordering: .acquiring)
            }
            let store = { (flag: borrowing Atomic<Int>) in
                if isMended {
                    flag.store(1, ordering: .sequentiallyConsistent)
                } else {
                    flag.store(1, ordering: .releasing)
                }
            }
            return Parts(
                { store(flags.first) }, { store(flags.second) },
                { flags.seen = (load(flags.first), load(flags.second)) },
                { other.seen = (load(flags.second), load(flags.first)) },
                holds: { flags.seen != (1, 0) || other.seen != (1, 0) })
        },
        Program("Peterson's lock", .race) { isMended in
            let lock = Peterson(isMended: isMended)
            return Parts({ lock.add(0) }, { lock.add(1) }, holds: { lock.count == 2 })
        },
        Program("a ticket lock", .race) { isMended in
            let lock = Ticket(isMended: isMended)
            return Parts({ lock.add() }, { lock.add() }, holds: { lock.count == 2 })
        },
        Program("a lock with places", .race) { isMended in
            let lock = Places(isMended: isMended)
            return Parts({ lock.add(1) }, { lock.add(2) }, holds: { lock.count == 2 })
        },
        Program("a sequence lock", .wrong) { isMended in
            let (lock, flags) = (Sequenced(isMended: isMended), Flags())
            return Parts(
                { lock.write(1) }, { flags.seen = lock.read() ?? (0, 0) },
                holds: { flags.seen.0 == flags.seen.1 })
        },
        Program("Treiber's stack", .wrong) { isMended in
            let (stack, flags) = (Treiber(isMended: isMended), Flags())
            return Parts(
                { flags.seen.0 = Int(stack.pop()) },
                {
                    let node = stack.pop()
                    flags.seen.1 = Int(stack.pop())
                    if node != 0 { stack.push(node) }
                },
                holds: {
                    // No node is in two hands, or in a hand and the stack.
                    var all = [flags.seen.0, flags.seen.1].filter { $0 != 0 }
                    for _ in 0..<3 {
                        let node = Int(stack.pop())
                        if node != 0 { all.append(node) }
                    }
                    return all.sorted() == [1, 2]
                })
        },
        Program("the queue of Michael and Scott", .race) { isMended in
            let (queue, flags) = (Queue(isMended: isMended), Flags())
            return Parts(
                { queue.send(1) }, { queue.send(2) }, { flags.seen.0 = queue.receive() ?? 0 },
                holds: {
                    var all = [flags.seen.0]
                    while let value = queue.receive() { all.append(value) }
                    return all.filter { $0 != 0 }.sorted() == [1, 2]
                })
        },
        Program("a hazard pointer", .race) { isMended in
            let hazard = Hazard(isMended: isMended)
            return Parts({ hazard.read() }, { hazard.replace() })
        },
        Program("read, copy, update", .race) { isMended in
            let shared = ReadCopyUpdate(isMended: isMended)
            return Parts({ shared.read() }, { shared.replace() })
        },
        Program("the deque of Chase and Lev", .wrong) { isMended in
            let (deque, flags, other) = (ChaseLev(isMended: isMended), Flags(), Flags())
            deque.push(1)
            deque.push(2)
            return Parts(
                { flags.seen.0 = deque.take() },
                { other.seen = (deque.steal(), deque.steal()) },
                holds: {
                    let all = [flags.seen.0, other.seen.0, other.seen.1].filter { $0 != 0 }
                    return Set(all).count == all.count
                })
        },
        Program("a bounded queue", .race) { isMended in
            let queue = Bounded(isMended: isMended)
            return Parts(
                { for value in 1...3 { _ = queue.send(value) } },
                { for _ in 0..<2 { use(queue.receive() ?? 0) } })
        },
        givesUp("a loop that gives up") { flag, tries in
            for _ in 0..<tries where flag.load(ordering: .acquiring) == 1 { return true }
            return false
        },
        givesUp("a loop that adds up to its end") { flag, tries in
            var sum = 0.0
            while sum < Double(tries) {
                if flag.load(ordering: .acquiring) == 1 { return true }
                sum += 1
            }
            return false
        },
        givesUp("a loop that keeps a list") { flag, tries in
            var list: [Int] = []
            list.reserveCapacity(10)
            while list.count < tries {
                if flag.load(ordering: .acquiring) == 1 { return true }
                list.append(0)
            }
            return false
        },
        givesUp("a loop that changes an object") { flag, tries in
            let count = Flags()
            while count.count < tries {
                if flag.load(ordering: .acquiring) == 1 { return true }
                count.count += 1
            }
            return false
        },
        Program("a loop that ends in time", .wrong) { isMended in
            let flags = Flags()
            return Parts(
                {
                    // In simulated time.
                    Thread.sleep(forTimeInterval: 2)
                    flags.seen.0 = flags.second.load(ordering: .acquiring)
                    flags.first.store(1, ordering: .releasing)
                },
                {
                    let end = ContinuousClock.now + .seconds(1)
                    while ContinuousClock.now < end {
                        if flags.first.load(ordering: .acquiring) == 1 { return }
                    }
                    if !isMended { flags.second.store(1, ordering: .releasing) }
                }, holds: { flags.seen.0 == 0 })
        },
        Program("a barrier of threads", .race) { isMended in
            let barrier = Barrier(isMended: isMended)
            return Parts(
                {
                    barrier.data.0 = 1
                    barrier.pass()
                    use(barrier.data.1)
                },
                {
                    barrier.data.1 = 1
                    barrier.pass()
                    use(barrier.data.0)
                })
        },
    ]

    /// A loop that ends by itself, so that a search must not take it for one that waits.
    private static func givesUp(
        _ name: String, _ loop: @escaping @Sendable (borrowing Atomic<Int>, _ tries: Int) -> Bool
    ) -> Program {
        Program(name, .wrong) { isMended in
            let flags = Flags()
            return Parts(
                {
                    flags.seen.0 = flags.second.load(ordering: .acquiring)
                    flags.first.store(1, ordering: .releasing)
                },
                {
                    let isThere = loop(flags.first, unknown(4))
                    if !isThere, !isMended { flags.second.store(1, ordering: .releasing) }
                }, holds: { flags.seen.0 == 0 })
        }
    }
}

/// A number that the compiler does not know.
@inline(never) @_optimize(none)
private func unknown(_ number: Int) -> Int { number }
