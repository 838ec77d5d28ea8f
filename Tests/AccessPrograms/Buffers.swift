import Foundation
import Synchronization

// Values that are copied when they are written, and objects that a second thread still has.

// Unchecked: what orders its accesses, or does not, is the subject.
private final class Storage: @unchecked Sendable {
    var items: [Int]
    init(_ items: [Int]) { self.items = items }
}

/// A list that is copied when it is written.
private struct List: @unchecked Sendable {
    private var storage = Storage([0])
    let isMended: Bool
    init(isMended: Bool) { self.isMended = isMended }
    mutating func add(_ item: Int) {
        if isMended && !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.items) }
        storage.items.append(item)
    }
    var count: Int { storage.items.count }
}

// Unchecked: what orders its accesses, or does not, is the subject.
private struct Profile: @unchecked Sendable {
    let tags: Storage
    let lock: NSLock
    func tag(_ tag: Int, isMended: Bool) {
        if isMended { lock.lock() }
        tags.items.append(tag)
        if isMended { lock.unlock() }
    }
}

// Unchecked: what orders its accesses, or does not, is the subject.
private final class Session: @unchecked Sendable {
    private let lock = NSLock()
    private var (user, token) = ("", 0)
    func logIn(_ user: String) {
        lock.lock()
        (self.user, token) = (user, token + 1)
        lock.unlock()
    }
    func describe(isMended: Bool) -> String {
        lock.lock()
        let user = user
        if isMended { defer { lock.unlock() }; return "\(user) \(token)" }
        lock.unlock()
        return "\(user) \(token)"
    }
}

extension Program {
    static let buffers = [
        Program("a copy that shares its storage", .race) { isMended in
            let list = List(isMended: isMended)
            return Parts(
                {
                    var own = list
                    own.add(1)
                },
                {
                    var own = list
                    own.add(2)
                }, holds: { list.count == 1 })
        },
        Program("a list that a mutex gives away", .race) { isMended in
            let list = Mutex(List(isMended: isMended))
            return Parts(
                { list.withLock { $0.add(1) } },
                {
                    let own = list.withLock { $0 }
                    use(own.count)
                })
        },
        Program("a struct that is Sendable and has an object", .race) { isMended in
            let profile = Profile(tags: Storage([]), lock: NSLock())
            let copy = profile
            return Parts(
                { profile.tag(1, isMended: isMended) }, { copy.tag(2, isMended: isMended) },
                holds: { profile.tags.items.count == 2 })
        },
        Program("half of it after the unlock", .race) { isMended in
            let session = Session()
            return Parts(
                { session.logIn("a") }, { use(session.describe(isMended: isMended).count) })
        },
        Program("a pointer that outlives its call", .race) { isMended in
            let numbers = Holder([1, 2, 3])
            let pointer = numbers.value.withUnsafeMutableBufferPointer { $0.baseAddress! }
            return Parts(
                { pointer[0] = 4 },
                {
                    let own = isMended ? [1, 2, 3] : numbers.value
                    use(own.withUnsafeBufferPointer { $0[0] })
                }, holds: { numbers.value.count == 3 })
        },
    ]
}
