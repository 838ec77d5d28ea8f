import Synchronization

// Atomics that are too weak, or that two operations use as one.

// Unchecked: what orders its accesses, or does not, is the subject.
private final class Published: @unchecked Sendable {
    var data = 0
    let isReady = Atomic(false)
    let count = Atomic(0)
    let state = Atomic(0)
}

/// A lock that spins.
private final class Spin: @unchecked Sendable {
    private let isTaken = Atomic(false)
    private let isMended: Bool
    var count = 0
    init(isMended: Bool) { self.isMended = isMended }
    func add() {
        while true {
            let (exchanged, _) =
                isMended
                ? isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring)
                : isTaken.compareExchange(expected: false, desired: true, ordering: .relaxed)
            if exchanged { break }
        }
        count += 1
        if isMended {
            isTaken.store(false, ordering: .releasing)
        } else {
            isTaken.store(false, ordering: .relaxed)
        }
    }
}

/// A lock that its owner may take again.
private final class Reentrant: @unchecked Sendable {
    private let owner = Atomic<UInt32>(0)
    private let isMended: Bool
    private var depth = 0
    var count = 0
    init(isMended: Bool) { self.isMended = isMended }

    func add(as own: UInt32, again: Bool = true) {
        if owner.load(ordering: .relaxed) != own {
            while !owner.compareExchange(expected: 0, desired: own, ordering: .acquiring).exchanged
            {}
        }
        depth += 1
        if again { add(as: own, again: false) } else { count += 1 }
        depth -= 1
        if depth > 0 { return }
        if isMended {
            owner.store(0, ordering: .releasing)
        } else {
            owner.store(0, ordering: .relaxed)
        }
    }
}

/// A flag, and a byte in the same word of memory.
private final class Neighbours: @unchecked Sendable {
    let isReady = Atomic(false)
    var byte: UInt8 = 0
    var data = 0
}

/// Counts its users; the last one finds all of them.
private final class Counted: Sendable {
    let users = Atomic(0)
    private let seen: Published
    init(_ seen: Published) { self.seen = seen }
    deinit { seen.count.store(users.load(ordering: .relaxed), ordering: .relaxed) }
}

/// More atomics than a search keeps values of.
private final class Many: @unchecked Sendable {
    private final class Cell: Sendable { let value = Atomic(0) }
    private let cells = (0..<70).map { _ in Cell() }
    var data = 0

    func publish(_ index: Int, isMended: Bool) {
        data = index
        for cell in cells[1...] { cell.value.store(1, ordering: .relaxed) }
        if isMended {
            cells[index].value.store(1, ordering: .releasing)
        } else {
            cells[index].value.store(1, ordering: .relaxed)
        }
    }

    func receive(_ index: Int) -> Int {
        cells[index].value.load(ordering: .acquiring) == 1 ? data : 0
    }
}

/// A ring for one sender and one receiver.
private final class Ring: @unchecked Sendable {
    private let slots = UnsafeMutablePointer<Int>.allocate(capacity: 2)
    private let head = Atomic(0)
    private let tail = Atomic(0)
    init() { slots.initialize(repeating: 0, count: 2) }
    deinit { slots.deallocate() }
    func send(_ value: Int, isMended: Bool) -> Bool {
        let at = tail.load(ordering: .relaxed)
        guard at - head.load(ordering: .acquiring) < 2 else { return false }
        slots[at % 2] = value
        if isMended {
            tail.store(at + 1, ordering: .releasing)
        } else {
            tail.store(at + 1, ordering: .relaxed)
        }
        return true
    }
    func receive() -> Int? {
        let at = head.load(ordering: .relaxed)
        guard at < tail.load(ordering: .acquiring) else { return nil }
        defer { head.store(at + 1, ordering: .releasing) }
        return slots[at % 2]
    }
}

extension Program {
    static let atomics = [
        Program("a relaxed store that publishes", .race) { isMended in
            let shared = Published()
            return Parts(
                {
                    shared.data = 1
                    if isMended {
                        shared.isReady.store(true, ordering: .releasing)
                    } else {
                        shared.isReady.store(true, ordering: .relaxed)
                    }
                }, { if shared.isReady.load(ordering: .acquiring) { use(shared.data) } })
        },
        Program("a relaxed load that receives", .race) { isMended in
            let shared = Published()
            return Parts(
                {
                    shared.data = 1
                    shared.isReady.store(true, ordering: .releasing)
                },
                {
                    let isReady =
                        isMended
                        ? shared.isReady.load(ordering: .acquiring)
                        : shared.isReady.load(ordering: .relaxed)
                    if isReady { use(shared.data) }
                })
        },
        Program("a flag beside a byte", .race) { isMended in
            let shared = Neighbours()
            return Parts(
                {
                    shared.data = 1
                    if isMended {
                        shared.isReady.store(true, ordering: .releasing)
                    } else {
                        shared.isReady.store(true, ordering: .relaxed)
                    }
                    shared.byte = 1
                }, { if shared.isReady.load(ordering: .acquiring) { use(shared.data) } })
        },
        Program("a deinit that reads what its users have counted", .wrong) { isMended in
            let seen = Published()
            let shared = Mutex([Counted(seen), nil])
            shared.withLock { $0[1] = $0[0] }
            let body = { (index: Int) in
                let own = shared.withLock { $0[index].take() }
                if isMended {
                    own?.users.add(1, ordering: .relaxed)
                } else {
                    let users = own?.users.load(ordering: .relaxed) ?? 0
                    own?.users.store(users + 1, ordering: .relaxed)
                }
            }
            return Parts(
                { body(0) }, { body(1) }, holds: { seen.count.load(ordering: .relaxed) == 2 })
        },
        Program("one of many atomics", .race) { isMended in
            let shared = Many()
            return Parts(
                { shared.publish(0, isMended: isMended) }, { use(shared.receive(0)) })
        },
        Program("a lock that its owner may take again", .race) { isMended in
            let lock = Reentrant(isMended: isMended)
            return Parts({ lock.add(as: 1) }, { lock.add(as: 2) }, holds: { lock.count == 2 })
        },
        Program("a missing fence", .race) { isMended in
            let shared = Published()
            return Parts(
                {
                    shared.data = 1
                    if isMended { atomicMemoryFence(ordering: .releasing) }
                    shared.isReady.store(true, ordering: .relaxed)
                },
                {
                    guard shared.isReady.load(ordering: .relaxed) else { return }
                    atomicMemoryFence(ordering: .acquiring)
                    use(shared.data)
                })
        },
        Program("a load and a store", .wrong) { isMended in
            let shared = Published()
            let body = {
                if isMended { return _ = shared.count.add(1, ordering: .relaxed) }
                let old = shared.count.load(ordering: .relaxed)
                shared.count.store(old + 1, ordering: .relaxed)
            }
            return Parts(body, body, holds: { shared.count.load(ordering: .relaxed) == 2 })
        },
        Program("a first caller who is not alone", .race) { isMended in
            let shared = Published()
            let body = {
                if isMended {
                    let (exchanged, _) = shared.state.compareExchange(
                        expected: 0, desired: 1, ordering: .acquiringAndReleasing)
                    if exchanged { shared.data = 1 }
                } else if shared.state.load(ordering: .acquiring) == 0 {
                    shared.state.store(1, ordering: .releasing)
                    shared.data = 1
                }
            }
            return Parts(body, body)
        },
        Program("a check before the lock that is relaxed", .race) { isMended in
            let shared = Published()
            let made = Mutex(())
            let body = {
                let isReady =
                    isMended
                    ? shared.isReady.load(ordering: .acquiring)
                    : shared.isReady.load(ordering: .relaxed)
                if !isReady {
                    made.withLock { _ in
                        if shared.isReady.load(ordering: .relaxed) { return }
                        shared.data = 1
                        shared.isReady.store(true, ordering: .releasing)
                    }
                }
                use(shared.data)
            }
            return Parts(body, body)
        },
        Program("a lock that orders nothing", .race) { isMended in
            let spin = Spin(isMended: isMended)
            return Parts({ spin.add() }, { spin.add() }, holds: { spin.count == 2 })
        },
        Program("a ring whose end is relaxed", .race) { isMended in
            let ring = Ring()
            return Parts({ _ = ring.send(1, isMended: isMended) }, { use(ring.receive() ?? 0) })
        },
        Program("a last user who frees", .race) { isMended in
            let (shared, data) = (Published(), UnsafeMutablePointer<Int>.allocate(capacity: 1))
            data.initialize(to: 0)
            shared.count.store(2, ordering: .relaxed)
            let body = { (index: Int) in
                if index == 0 { data.pointee += 1 }
                let left =
                    isMended
                    ? shared.count.subtract(1, ordering: .acquiringAndReleasing).newValue
                    : shared.count.subtract(1, ordering: .relaxed).newValue
                if left == 0 {
                    data.pointee = -1
                    data.deallocate()
                }
            }
            return Parts({ body(0) }, { body(1) })
        },
    ]
}
