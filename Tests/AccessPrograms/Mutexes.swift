import Synchronization

// Each access has the lock, and what belongs together has it twice.

private final class Account: Sendable {
    let balance = Mutex(100)
    let log = Mutex([Int]())

    func withdraw(_ amount: Int, atOnce: Bool) {
        if atOnce {
            balance.withLock { if $0 >= amount { $0 -= amount } }
        } else if balance.withLock({ $0 }) >= amount {
            balance.withLock { $0 -= amount }
        }
    }
    func double(atOnce: Bool) {
        if atOnce { return balance.withLock { $0 *= 2 } }
        let old = balance.withLock { $0 }
        balance.withLock { $0 = old * 2 }
    }
    func record(_ amount: Int) {
        log.withLock { log in balance.withLock { log.append($0 + amount) } }
    }
    func settle(inOrder: Bool) {
        if inOrder { return record(0) }
        balance.withLock { balance in log.withLock { $0.append(balance) } }
    }
}

private final class Pool: Sendable {
    let free = Mutex([1])
    let made = Mutex(0)
    let objects = Mutex<[String: Int]>([:])

    func take(atOnce: Bool) -> Int? {
        if atOnce { return free.withLock { $0.popLast() } }
        guard free.withLock({ !$0.isEmpty }) else { return nil }
        return free.withLock { $0.isEmpty ? -1 : $0.removeLast() }
    }
    func object(_ name: String, atOnce: Bool) -> Int {
        func make() -> Int {
            made.withLock {
                $0 += 1; return $0
            }
        }
        if atOnce {
            return objects.withLock { objects in
                if let known = objects[name] { return known }
                let new = make()
                objects[name] = new
                return new
            }
        }
        if let known = objects.withLock({ $0[name] }) { return known }
        let new = make()
        objects.withLock { $0[name] = new }
        return new
    }
}

private final class Identifiers: Sendable {
    private let last = Mutex(0)
    private let used = Mutex<[Int]>([])
    func next(atOnce: Bool) {
        if atOnce {
            return last.withLock {
                $0 += 1; let new = $0; used.withLock { $0.append(new) }
            }
        }
        let new = last.withLock { $0 } + 1
        last.withLock { $0 = new }
        used.withLock { $0.append(new) }
    }
    var areUnique: Bool { used.withLock { Set($0).count == $0.count } }
}

extension Program {
    static let mutexes = [
        Program("a check and then a withdrawal", .wrong) { isMended in
            let account = Account()
            let body = { account.withdraw(80, atOnce: isMended) }
            return Parts(body, body, holds: { account.balance.withLock { $0 } >= 0 })
        },
        Program("a copy that is changed and put back", .wrong) { isMended in
            let account = Account()
            let body = { account.double(atOnce: isMended) }
            return Parts(body, body, holds: { account.balance.withLock { $0 } == 400 })
        },
        Program("two locks in opposite order", .deadlock) { isMended in
            let account = Account()
            return Parts({ account.record(1) }, { account.settle(inOrder: isMended) })
        },
        Program("a pool that was not empty", .wrong) { isMended in
            let pool = Pool()
            let taken = Mutex([Int]())
            let body = {
                if let object = pool.take(atOnce: isMended) { taken.withLock { $0.append(object) } }
            }
            return Parts(body, body, holds: { taken.withLock { !$0.contains(-1) } })
        },
        Program("an object that is made twice", .wrong) { isMended in
            let pool = Pool()
            let body = { _ = pool.object("a", atOnce: isMended) }
            return Parts(body, body, holds: { pool.made.withLock { $0 } == 1 })
        },
        Program("a number that is given twice", .wrong) { isMended in
            let identifiers = Identifiers()
            let body = { identifiers.next(atOnce: isMended) }
            return Parts(body, body, holds: { identifiers.areUnique })
        },
    ]
}
