import ExecutionContextsTesting
import Foundation
import Testing

/// An ordinary program with locks of the system, which has a fault unless it is mended.
struct LockProgram: Sendable, CustomTestStringConvertible {
    let name: String
    var kind = SimulationFailure.Kind.invariant
    /// Whether it uses what is not tried in all orders: conditions, and locks for readers.
    var isCut = false
    let run: @Sendable (_ sim: SimulatedWorld, _ isMended: Bool) -> Void

    var testDescription: String { name }

    static let all = [
        // Each section is right, and the two together are not.
        LockProgram(name: "check, then act") { sim, isMended in
            let account = Account(100)
            for name in ["alice", "bob"] {
                sim.spawn(name) { account.withdraw(80, atOnce: isMended) }
            }
            sim.finally("not overdrawn") { account.balance >= 0 }
        },
        LockProgram(name: "opposite order", kind: .deadlock) { sim, isMended in
            let (first, second) = (Account(100), Account(100, number: 2))
            sim.spawn("alice") { first.transfer(10, to: second, ordered: isMended) }
            sim.spawn("bob") { second.transfer(20, to: first, ordered: isMended) }
        },
        LockProgram(name: "made twice") { sim, isMended in
            let cache = Cache()
            for name in ["alice", "bob"] {
                sim.spawn(name) { _ = cache.value(checksAgain: isMended) }
            }
            sim.finally("made once") { cache.made == 1 }
        },
        LockProgram(name: "missed wake-up", kind: .lostWakeUp, isCut: true) { sim, isMended in
            let gate = Gate()
            sim.spawn("visitor") { isMended ? gate.pass() : gate.passAfterLook() }
            sim.spawn("guard") { gate.open() }
        },
        LockProgram(name: "if in place of while", isCut: true) { sim, isMended in
            let shelf = Shelf()
            for name in ["alice", "bob"] {
                sim.spawn(name) { shelf.take(looksAgain: isMended) }
            }
            sim.spawn("carrier") {
                shelf.put()
                shelf.put()
            }
            sim.finally("no more was taken than there was") { shelf.least >= 0 }
        },
        LockProgram(name: "one woken for two", kind: .lostWakeUp, isCut: true) {
            sim, isMended in
            let gate = Gate()
            for name in ["alice", "bob"] { sim.spawn(name) { gate.pass() } }
            sim.spawn("guard") { isMended ? gate.open() : gate.openForOne() }
        },
        LockProgram(name: "registered late") { sim, isMended in
            let subject = Subject()
            sim.spawn("publisher") { subject.publish(1) }
            sim.spawn("subscriber") { subject.subscribe(atOnce: isMended) }
            sim.finally("the value arrives") { subject.received == 1 }
        },
        LockProgram(name: "a try gives up", isCut: true) { sim, isMended in
            let counter = TriedCounter()
            for name in ["alice", "bob"] {
                sim.spawn(name) { isMended ? counter.count() : counter.countIfFree() }
            }
            sim.finally("all are counted") { counter.value == 2 }
        },
        LockProgram(name: "recursive") { sim, isMended in
            let list = Roster()
            for name in ["alice", "bob"] {
                sim.spawn(name) { list.addIfAbsent("carol", atOnce: isMended) }
            }
            sim.finally("once") { list.count("carol") == 1 }
        },
        LockProgram(name: "a mutex of C") { sim, isMended in
            let numbers = Numbers()
            let drawn = (0..<2).map { _ in Slot() }
            for slot in drawn {
                sim.spawn("drawer") { slot.value = numbers.next(atOnce: isMended) }
            }
            sim.finally("no number twice") { drawn[0].value != drawn[1].value }
        },
        LockProgram(name: "read, then written", isCut: true) { sim, isMended in
            let counter = ReadWriteCounter()
            for name in ["alice", "bob"] {
                sim.spawn(name) { counter.add(atOnce: isMended) }
                sim.spawn("\(name)'s reader") { _ = counter.value }
            }
            sim.finally("both are counted") { counter.value == 2 }
        },
        LockProgram(name: "a reader that writes", kind: .deadlock, isCut: true) { sim, isMended in
            let counter = ReadWriteCounter()
            sim.spawn("alice") { isMended ? counter.add(atOnce: true) : counter.addInside() }
        },
        LockProgram(name: "closed between") { sim, isMended in
            let connection = Connection()
            sim.spawn("sender") { connection.send(atOnce: isMended) }
            sim.spawn("closer") { connection.close() }
            sim.finally("nothing is sent when closed") { !connection.hasSentWhenClosed }
        },
        LockProgram(name: "three in a circle", kind: .deadlock) { sim, isMended in
            let forks = (0..<3).map { _ in NSLock() }
            for seat in 0..<3 {
                let (left, right) = (seat, (seat + 1) % 3)
                let order = isMended ? [min(left, right), max(left, right)] : [left, right]
                sim.spawn("philosopher \(seat)") {
                    forks[order[0]].withLock { forks[order[1]].withLock {} }
                }
            }
        },
    ]
}

extension LockProgram {
    // Unchecked: its lock guards what changes.
    fileprivate final class Account: @unchecked Sendable {
        private let lock = NSLock()
        private let number: Int
        private var stored: Int

        init(_ balance: Int, number: Int = 1) { (stored, self.number) = (balance, number) }

        var balance: Int { stored }

        func withdraw(_ amount: Int, atOnce: Bool) {
            if atOnce {
                lock.withLock { if stored >= amount { stored -= amount } }
            } else if lock.withLock({ stored >= amount }) {
                lock.withLock { stored -= amount }
            }
        }

        func transfer(_ amount: Int, to other: Account, ordered: Bool) {
            let isSwapped = ordered && number > other.number
            let (first, second) = isSwapped ? (other, self) : (self, other)
            first.lock.withLock {
                second.lock.withLock {
                    stored -= amount
                    other.stored += amount
                }
            }
        }
    }

    // Unchecked: its lock guards what changes.
    fileprivate final class Cache: @unchecked Sendable {
        private let lock = NSLock()
        private var stored: Int?
        private(set) var made = 0

        func value(checksAgain: Bool) -> Int {
            if let known = lock.withLock({ stored }) { return known }
            return lock.withLock {
                if checksAgain, let stored { return stored }
                made += 1
                stored = made
                return made
            }
        }
    }

    // Unchecked: its lock guards what changes.
    fileprivate final class Gate: @unchecked Sendable {
        private let condition = NSCondition()
        private var isOpen = false

        func pass() { condition.withLock { while !isOpen { condition.wait() } } }

        func passAfterLook() {
            if condition.withLock({ isOpen }) { return }
            condition.withLock { condition.wait() }
        }

        func open() {
            condition.withLock {
                isOpen = true
                condition.broadcast()
            }
        }

        func openForOne() {
            condition.withLock {
                isOpen = true
                condition.signal()
            }
        }
    }

    // Unchecked: its lock guards what changes.
    fileprivate final class Shelf: @unchecked Sendable {
        private let condition = NSCondition()
        private var count = 0
        private(set) var least = 0

        func put() {
            condition.withLock {
                count += 1
                condition.broadcast()
            }
        }

        func take(looksAgain: Bool) {
            condition.withLock {
                if looksAgain {
                    while count == 0 { condition.wait() }
                } else if count == 0 {
                    condition.wait()
                }
                count -= 1
                least = min(least, count)
            }
        }
    }

    // Unchecked: its lock guards what changes.
    fileprivate final class Subject: @unchecked Sendable {
        private let lock = NSLock()
        private var value: Int?
        private var hasSubscriber = false
        private(set) var received: Int?

        func publish(_ value: Int) {
            lock.withLock {
                self.value = value
                if hasSubscriber { received = value }
            }
        }

        func subscribe(atOnce: Bool) {
            if atOnce {
                lock.withLock {
                    received = value
                    hasSubscriber = true
                }
            } else {
                received = lock.withLock { value }
                lock.withLock { hasSubscriber = true }
            }
        }
    }

    // Unchecked: its lock guards what changes.
    fileprivate final class TriedCounter: @unchecked Sendable {
        private let lock = NSLock()
        private let inner = NSLock()
        private(set) var value = 0

        func count() { lock.withLock { inner.withLock { value += 1 } } }

        func countIfFree() {
            guard lock.try() else { return }
            inner.withLock { value += 1 }
            lock.unlock()
        }
    }

    // Unchecked: its lock guards what changes.
    fileprivate final class Roster: @unchecked Sendable {
        private let lock = NSRecursiveLock()
        private var names: [String] = []

        func count(_ name: String) -> Int { names.count { $0 == name } }

        private func contains(_ name: String) -> Bool { lock.withLock { names.contains(name) } }

        private func add(_ name: String) { lock.withLock { names.append(name) } }

        func addIfAbsent(_ name: String, atOnce: Bool) {
            if atOnce {
                lock.withLock { if !contains(name) { add(name) } }
            } else if !contains(name) {
                add(name)
            }
        }
    }

    // Unchecked: its lock guards what changes.
    @safe fileprivate final class Numbers: @unchecked Sendable {
        // Unsafe in name only: the mutex has one address, from `init` to `deinit`.
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private var last = 0

        init() { unsafe pthread_mutex_init(mutex, nil) }

        deinit {
            unsafe pthread_mutex_destroy(mutex)
            unsafe mutex.deallocate()
        }

        func next(atOnce: Bool) -> Int {
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            let next = last + 1
            if !atOnce {
                unsafe pthread_mutex_unlock(mutex)
                unsafe pthread_mutex_lock(mutex)
            }
            last = next
            return next
        }
    }

    // Unchecked: its lock guards what changes.
    @safe fileprivate final class ReadWriteCounter: @unchecked Sendable {
        // Unsafe in name only, as above.
        private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
        private var count = 0

        init() { unsafe pthread_rwlock_init(lock, nil) }

        deinit {
            unsafe pthread_rwlock_destroy(lock)
            unsafe lock.deallocate()
        }

        var value: Int {
            unsafe pthread_rwlock_rdlock(lock)
            defer { unsafe pthread_rwlock_unlock(lock) }
            return count
        }

        func add(atOnce: Bool) {
            let known = atOnce ? nil : value
            unsafe pthread_rwlock_wrlock(lock)
            count = (known ?? count) + 1
            unsafe pthread_rwlock_unlock(lock)
        }

        func addInside() {
            unsafe pthread_rwlock_rdlock(lock)
            add(atOnce: true)
            unsafe pthread_rwlock_unlock(lock)
        }
    }

    // Unchecked: one thread sets it, and it is read when all have ended.
    fileprivate final class Slot: @unchecked Sendable {
        var value = 0
    }

    // Unchecked: its lock guards what changes.
    fileprivate final class Connection: @unchecked Sendable {
        private let lock = NSLock()
        private var isOpen = true
        private(set) var hasSentWhenClosed = false

        func send(atOnce: Bool) {
            if atOnce {
                lock.withLock { if isOpen { transmit() } }
            } else if lock.withLock({ isOpen }) {
                lock.withLock { transmit() }
            }
        }

        private func transmit() { if !isOpen { hasSentWhenClosed = true } }

        func close() { lock.withLock { isOpen = false } }
    }
}
