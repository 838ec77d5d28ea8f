import Foundation

// Variables that a lock guards, but not on each path.

// Unchecked: what orders its accesses, or does not, is the subject.
private final class Registry: @unchecked Sendable {
    private let (lock, other) = (NSLock(), NSLock())
    private var names: [String] = []
    // Unchecked: what orders its accesses, or does not, is the subject.
    nonisolated(unsafe) static var total = 0

    func add(_ name: String) {
        lock.lock()
        names.append(name)
        lock.unlock()
    }
    func addByTheOther(_ name: String) {
        other.lock()
        names.append(name)
        other.unlock()
    }
    func addTooLate(_ name: String) {
        lock.lock()
        let isNew = !names.contains(name)
        lock.unlock()
        if isNew { names.append(name) }
    }
    var count: Int {
        lock.lock()
        defer { lock.unlock() }
        return names.count
    }
    var countUnguarded: Int { names.count }
    func countTotal() {
        lock.lock()
        Self.total += 1
        lock.unlock()
    }
}

// Unchecked: what orders its accesses, or does not, is the subject.
private final class Table: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    private var hits = 0
    init() { pthread_rwlock_init(lock, nil) }
    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }
    func hit(writing: Bool) {
        if writing { pthread_rwlock_wrlock(lock) } else { pthread_rwlock_rdlock(lock) }
        hits += 1
        pthread_rwlock_unlock(lock)
    }
}

// Unchecked: what orders its accesses, or does not, is the subject.
private final class Mailbox: @unchecked Sendable {
    private let condition = NSCondition()
    private var letter: String?
    func put(_ text: String, guarded: Bool) {
        if guarded { condition.lock() }
        letter = text
        if guarded { condition.unlock() }
        condition.signal()
    }
    func look() -> String? {
        condition.lock()
        defer { condition.unlock() }
        return letter
    }
}

extension Program {
    static let guarded = [
        Program("a getter without the lock", .race) { isMended in
            let registry = Registry()
            return Parts(
                { registry.add("a") },
                { use(isMended ? registry.count : registry.countUnguarded) })
        },
        Program("two locks for one variable", .race) { isMended in
            let registry = Registry()
            return Parts(
                { registry.add("a") },
                { if isMended { registry.add("b") } else { registry.addByTheOther("b") } })
        },
        Program("a write after the unlock", .race) { isMended in
            let registry = Registry()
            return Parts(
                { if isMended { registry.add("a") } else { registry.addTooLate("a") } },
                { registry.add("b") })
        },
        Program("a lock for each object, a variable for all", .race) { isMended in
            let one = Registry()
            let other = isMended ? one : Registry()
            return Parts({ one.countTotal() }, { other.countTotal() })
        },
        Program("a write under a lock for readers", .race) { isMended in
            let table = Table()
            return Parts({ table.hit(writing: isMended) }, { table.hit(writing: isMended) })
        },
        Program("a condition without its lock", .race) { isMended in
            let mailbox = Mailbox()
            return Parts(
                { mailbox.put("a", guarded: isMended) }, { use(mailbox.look()?.count ?? 0) })
        },
    ]
}
