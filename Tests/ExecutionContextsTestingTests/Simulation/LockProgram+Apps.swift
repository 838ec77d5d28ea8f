import ExecutionContextsTesting
import Foundation

// Programs as apps and servers have them, each with one fault in its use of locks.
extension LockProgram {
    static let apps = [
        thumbnailCache, cartAndCatalogue, signInToken, promiseCallbacks, letterbox, parkingGarage,
        readerCount, retiringUploader, lastOneOut, lateEvent, shardedPool,
    ]
}

// MARK: The locks of C, at addresses that do not change

extension LockProgram {
    // Unchecked: the system synchronizes what it points to.
    @safe fileprivate final class RawMutex: @unchecked Sendable {
        // Unsafe in name only: allocated by `init`, and freed by `deinit`.
        let raw = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init() {
            unsafe raw.initialize(to: pthread_mutex_t())
            unsafe pthread_mutex_init(raw, nil)
        }

        deinit {
            unsafe pthread_mutex_destroy(raw)
            unsafe raw.deallocate()
        }

        func lock() { unsafe pthread_mutex_lock(raw) }
        func unlock() { unsafe pthread_mutex_unlock(raw) }
    }

    // Unchecked: the system synchronizes what it points to.
    @safe fileprivate final class RawCondition: @unchecked Sendable {
        // Unsafe in name only: allocated by `init`, and freed by `deinit`.
        let raw = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

        init() {
            unsafe raw.initialize(to: pthread_cond_t())
            unsafe pthread_cond_init(raw, nil)
        }

        deinit {
            unsafe pthread_cond_destroy(raw)
            unsafe raw.deallocate()
        }

        func wait(_ mutex: RawMutex) { unsafe pthread_cond_wait(raw, mutex.raw) }
        func signal() { unsafe pthread_cond_signal(raw) }
    }

    // Unchecked: the system synchronizes what it points to.
    @safe fileprivate final class RawReadWriteLock: @unchecked Sendable {
        // Unsafe in name only: allocated by `init`, and freed by `deinit`.
        let raw = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

        init() {
            unsafe raw.initialize(to: pthread_rwlock_t())
            unsafe pthread_rwlock_init(raw, nil)
        }

        deinit {
            unsafe pthread_rwlock_destroy(raw)
            unsafe raw.deallocate()
        }

        func lockForReading() { unsafe pthread_rwlock_rdlock(raw) }
        func lockForWriting() { unsafe pthread_rwlock_wrlock(raw) }
        func unlock() { unsafe pthread_rwlock_unlock(raw) }
    }
}

// MARK: The entry may go between the writing section and the reading one

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class ThumbnailCache: @unchecked Sendable {
        let table = RawReadWriteLock()
        let isMended: Bool
        var sizes: [String: Int] = [:]
        var shown: Int?

        init(isMended: Bool) { self.isMended = isMended }

        func known(_ name: String) -> Int? {
            table.lockForReading()
            defer { table.unlock() }
            return sizes[name]
        }

        func size(of name: String) -> Int? {
            if let size = known(name) { return size }
            table.lockForWriting()
            let size: Int = sizes[name] ?? name.utf8.count
            sizes[name] = size
            table.unlock()
            if isMended { return size }
            return known(name)
        }

        func removeAll() {
            table.lockForWriting()
            sizes = [:]
            table.unlock()
        }
    }

    fileprivate static let thumbnailCache = LockProgram(name: "thumbnail cache") { sim, isMended in
        let cache = ThumbnailCache(isMended: isMended)
        sim.spawn("page") { cache.shown = cache.size(of: "cat.jpg") }
        sim.spawn("memory warning") { cache.removeAll() }
        sim.finally("the page shows its picture") { cache.shown == 7 }
    }
}

// MARK: Two objects that call each other, each under its own lock

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class Catalogue: @unchecked Sendable {
        let lock = NSLock()
        let isMended: Bool
        weak var cart: Cart?
        var price = 10
        init(isMended: Bool) { self.isMended = isMended }

        func currentPrice() -> Int { lock.withLock { price } }

        func reprice(to newPrice: Int) {
            lock.lock()
            price = newPrice
            if !isMended { cart?.pricesChanged() }
            lock.unlock()
            if isMended { cart?.pricesChanged() }
        }
    }
    // Unchecked: its locks guard what changes.
    fileprivate final class Cart: @unchecked Sendable {
        let lock = NSLock()
        let catalogue: Catalogue
        var keptTotal: Int?
        init(catalogue: Catalogue) { self.catalogue = catalogue }

        func addUp() {
            lock.lock()
            if keptTotal == nil { keptTotal = 2 * catalogue.currentPrice() }
            lock.unlock()
        }

        func pricesChanged() { lock.withLock { keptTotal = nil } }
    }
    fileprivate static let cartAndCatalogue = LockProgram(
        name: "cart and catalogue", kind: .deadlock
    ) { sim, isMended in
        let catalogue = Catalogue(isMended: isMended)
        let cart = Cart(catalogue: catalogue)
        catalogue.cart = cart
        sim.spawn("checkout") { cart.addUp() }
        sim.spawn("reprice") { catalogue.reprice(to: 12) }
        sim.finally("a kept total follows the price") {
            cart.keptTotal == nil || cart.keptTotal == 2 * catalogue.price
        }
    }
}

// MARK: A wake-up sent without the condition's lock

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class SignIn: @unchecked Sendable {
        let tokenLock = NSLock()
        let arrived = NSCondition()
        let isMended: Bool
        var token: String?
        var served = 0

        init(isMended: Bool) { self.isMended = isMended }

        func currentToken() -> String? { tokenLock.withLock { token } }

        func request() {
            arrived.lock()
            while currentToken() == nil { arrived.wait() }
            served += 1
            arrived.unlock()
        }

        func signedIn(with newToken: String) {
            tokenLock.withLock { token = newToken }
            if isMended {
                arrived.lock()
                arrived.broadcast()
                arrived.unlock()
            } else {
                arrived.broadcast()
            }
        }
    }

    fileprivate static let signInToken = LockProgram(name: "sign-in token", kind: .lostWakeUp) {
        sim, isMended in
        let signIn = SignIn(isMended: isMended)
        sim.spawn("profile request") { signIn.request() }
        sim.spawn("photos request") { signIn.request() }
        sim.spawn("sign-in") { signIn.signedIn(with: "abc") }
        sim.finally("both requests are served") { signIn.served == 2 }
    }
}

// MARK: The value is looked up under one lock, the callback listed under another

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class Promise: @unchecked Sendable {
        let valueLock = RawMutex(), listLock = RawMutex()
        let isMended: Bool
        var value: Int?
        var callbacks: [@Sendable (Int) -> Void] = []
        init(isMended: Bool) { self.isMended = isMended }

        func whenDone(_ callback: @escaping @Sendable (Int) -> Void) {
            valueLock.lock()
            let early = value
            if !isMended { valueLock.unlock() }
            if early == nil {
                listLock.lock()
                callbacks.append(callback)
                listLock.unlock()
            }
            if isMended { valueLock.unlock() }
            if let early { callback(early) }
        }

        func complete(with newValue: Int) {
            valueLock.lock()
            value = newValue
            valueLock.unlock()
            listLock.lock()
            let waiting = callbacks
            listLock.unlock()
            for callback in waiting { callback(newValue) }
        }
    }
    // Unchecked: its locks guard what changes.
    fileprivate final class Screen: @unchecked Sendable {
        var shown: [Int] = []
    }
    fileprivate static let promiseCallbacks = LockProgram(name: "promise with callbacks") {
        sim, isMended in
        let promise = Promise(isMended: isMended)
        let list = Screen(), detail = Screen()
        sim.spawn("list") { promise.whenDone { value in list.shown.append(value) } }
        sim.spawn("detail") { promise.whenDone { value in detail.shown.append(value) } }
        sim.spawn("network") { promise.complete(with: 42) }
        sim.finally("each screen is told once") { list.shown == [42] && detail.shown == [42] }
    }
}

// MARK: One condition for two kinds of waiters, woken one at a time

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class Letterbox: @unchecked Sendable {
        let changed = NSCondition()
        let isMended: Bool
        var letters: [Int] = []
        var taken: [Int] = []
        init(isMended: Bool) { self.isMended = isMended }

        func wake() {
            if isMended { changed.broadcast() } else { changed.signal() }
        }

        func put(_ letter: Int) {
            changed.lock()
            while !letters.isEmpty { changed.wait() }
            letters.append(letter)
            wake()
            changed.unlock()
        }

        func take() {
            changed.lock()
            while letters.isEmpty { changed.wait() }
            taken.append(letters.removeLast())
            wake()
            changed.unlock()
        }
    }

    fileprivate static let letterbox = LockProgram(name: "letterbox", kind: .lostWakeUp) {
        sim, isMended in
        let box = Letterbox(isMended: isMended)
        sim.spawn("postman") {
            box.put(1)
            box.put(2)
        }
        sim.spawn("first reader") { box.take() }
        sim.spawn("second reader") { box.take() }
        sim.finally("each letter is taken once") { box.taken.sorted() == [1, 2] }
    }
}

// MARK: A waiter that does not look again after it is woken

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class Garage: @unchecked Sendable {
        let mutex = RawMutex()
        let freed = RawCondition()
        let isMended: Bool
        var free = 1
        var fewestFree = 1

        init(isMended: Bool) { self.isMended = isMended }

        func visit() {
            mutex.lock()
            if isMended {
                while free == 0 { freed.wait(mutex) }
            } else if free == 0 {
                freed.wait(mutex)
            }
            free -= 1
            if free < fewestFree { fewestFree = free }
            mutex.unlock()

            mutex.lock()
            free += 1
            freed.signal()
            mutex.unlock()
        }
    }

    fileprivate static let parkingGarage = LockProgram(name: "parking garage") { sim, isMended in
        let garage = Garage(isMended: isMended)
        sim.spawn("red car") { garage.visit() }
        sim.spawn("green car") { garage.visit() }
        sim.spawn("blue car") { garage.visit() }
        sim.finally("no place is given twice") { garage.fewestFree >= 0 && garage.free == 1 }
    }
}

// MARK: The second reader trusts a count whose first reader still waits outside

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class Accounts: @unchecked Sendable {
        let entry = NSLock(), journal = NSLock(), room = NSCondition()
        let isMended: Bool
        var readers = 0, isTaken = false, savings = 10, current = 0
        var sums: [Int] = [], moves: [Int] = []
        init(isMended: Bool) { self.isMended = isMended }

        func setTaken(_ isNowTaken: Bool) {
            room.lock()
            while isNowTaken && isTaken { room.wait() }
            isTaken = isNowTaken
            if !isNowTaken { room.signal() }
            room.unlock()
        }
        func audit() {
            entry.lock()
            readers += 1
            let isFirst = readers == 1
            if isMended && isFirst { setTaken(true) }
            entry.unlock()
            if !isMended && isFirst { setTaken(true) }
            journal.withLock { sums.append(savings + current) }
            entry.lock()
            readers -= 1
            if readers == 0 { setTaken(false) }
            entry.unlock()
        }
        func move(_ amount: Int) {
            setTaken(true)
            savings -= amount
            journal.withLock { moves.append(amount) }
            current += amount
            setTaken(false)
        }
    }
    fileprivate static let readerCount = LockProgram(name: "reader count") { sim, isMended in
        let accounts = Accounts(isMended: isMended)
        sim.spawn("transfer") { accounts.move(4) }
        sim.spawn("audit") { accounts.audit() }
        sim.spawn("second audit") { accounts.audit() }
        sim.finally("every sum is whole") { accounts.sums == [10, 10] }
    }
}

// MARK: A worker that finds no more work, and only later says that it stops

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class Uploader: @unchecked Sendable {
        let lock = NSLock()
        let isMended: Bool
        var waiting: [String] = [], sent: [String] = []
        var isWorking = false
        init(isMended: Bool) { self.isMended = isMended }

        func upload(_ file: String) {
            lock.lock()
            waiting.append(file)
            let mustWork = !isWorking
            isWorking = true
            lock.unlock()
            if mustWork { work() }
        }

        func nextFile() -> String? {
            lock.lock()
            defer { lock.unlock() }
            if isMended && waiting.isEmpty { isWorking = false }
            return waiting.popLast()
        }

        func work() {
            while let file = nextFile() {
                lock.withLock { sent.append(file) }
            }
            if !isMended { lock.withLock { isWorking = false } }
        }
    }

    fileprivate static let retiringUploader = LockProgram(name: "retiring uploader") {
        sim, isMended in
        let uploader = Uploader(isMended: isMended)
        sim.spawn("camera") {
            uploader.upload("a")
            uploader.upload("b")
        }
        sim.spawn("notes") { uploader.upload("c") }
        sim.finally("every file is sent") { uploader.sent.sorted() == ["a", "b", "c"] }
    }
}

// MARK: "Am I the last one?" asked after the count was let go

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class Gathering: @unchecked Sendable {
        let mutex = RawMutex()
        let isMended: Bool
        var missing = 3
        var reports = 0

        init(isMended: Bool) { self.isMended = isMended }

        func isComplete() -> Bool {
            mutex.lock()
            defer { mutex.unlock() }
            return missing == 0
        }

        func countDown() -> Bool {
            mutex.lock()
            defer { mutex.unlock() }
            missing -= 1
            return missing == 0
        }

        func partArrived() {
            var isLast = countDown()
            if !isMended { isLast = isComplete() }
            if !isLast { return }
            mutex.lock()
            reports += 1
            mutex.unlock()
        }
    }

    fileprivate static let lastOneOut = LockProgram(name: "last one out") { sim, isMended in
        let gathering = Gathering(isMended: isMended)
        sim.spawn("text") { gathering.partArrived() }
        sim.spawn("pictures") { gathering.partArrived() }
        sim.spawn("comments") { gathering.partArrived() }
        sim.finally("one report is made") { gathering.reports == 1 }
    }
}

// MARK: An event delivered after the unsubscription came back

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class Emitter: @unchecked Sendable {
        let lock = NSRecursiveLock()
        let isMended: Bool
        var listeners: [Preview] = []
        init(isMended: Bool) { self.isMended = isMended }

        func unsubscribe(_ listener: Preview) {
            lock.lock()
            listeners.removeAll { $0 === listener }
            lock.unlock()
        }
        func post(_ event: String) {
            lock.lock()
            let present = listeners
            if !isMended { lock.unlock() }
            for listener in present { listener.draw(event) }
            if isMended { lock.unlock() }
        }
    }
    // Unchecked: its locks guard what changes.
    fileprivate final class Preview: @unchecked Sendable {
        let lock = NSLock()
        var canvas: [String]? = []
        var lateEvents = 0

        func draw(_ event: String) {
            lock.lock()
            if canvas == nil { lateEvents += 1 }
            canvas?.append(event)
            lock.unlock()
        }
        func close(_ emitter: Emitter) {
            emitter.unsubscribe(self)
            lock.withLock { canvas = nil }
        }
    }
    fileprivate static let lateEvent = LockProgram(name: "late event") { sim, isMended in
        let emitter = Emitter(isMended: isMended), preview = Preview()
        emitter.listeners = [preview]
        sim.spawn("rotation") { emitter.post("rotated") }
        sim.spawn("close") { preview.close(emitter) }
        sim.finally("nothing is drawn after the end") { preview.lateEvents == 0 }
    }
}

// MARK: Taking from a neighbour's shelf under one's own lock

extension LockProgram {
    // Unchecked: its locks guard what changes.
    fileprivate final class Shard: @unchecked Sendable {
        let mutex = RawMutex()
        var idle: [Int]
        init(idle: [Int]) { self.idle = idle }
    }
    // Unchecked: its locks guard what changes.
    fileprivate final class ShardedPool: @unchecked Sendable {
        let shards = [Shard(idle: [7]), Shard(idle: [])]
        let bookLock = NSLock()
        let isMended: Bool
        var borrowed: [Int] = []
        init(isMended: Bool) { self.isMended = isMended }

        func take(from shard: Shard) -> Bool {
            guard let connection = shard.idle.last else { return false }
            bookLock.withLock { borrowed.append(connection) }
            shard.idle.removeAll { $0 == connection }
            return true
        }

        func borrow(home: Int) {
            let own = shards[home], other = shards[1 - home]
            own.mutex.lock()
            var isServed = take(from: own)
            if !isServed && !isMended { isServed = take(from: other) }
            own.mutex.unlock()
            if isServed || !isMended { return }
            other.mutex.lock()
            _ = take(from: other)
            other.mutex.unlock()
        }
    }

    fileprivate static let shardedPool = LockProgram(name: "sharded pool") { sim, isMended in
        let pool = ShardedPool(isMended: isMended)
        sim.spawn("first client") { pool.borrow(home: 0) }
        sim.spawn("second client") { pool.borrow(home: 1) }
        sim.finally("the connection is lent once") { pool.borrowed == [7] }
    }
}
