/// The addresses of the coordinator's model in the memory that its processors share.
enum Address {
    // `state` and `readers` are one word: a step that changes both is atomic.
    static let state = 0, readers = 1
    // Guarded by the lock.
    static let lock = 2, completed = 3, submitted = 4, isDrainRequested = 5, wakePending = 6,
        starving = 7
    /// How many drains are requested and have not begun.
    static let drains = 8
    // The truth, for the checks.
    static let readersInside = 9, writersInside = 10, run = 11
    /// The admitted enqueued reads that wait for a thread: a bit for each submitter.
    static let ready = 12

    static func entry(_ index: Int) -> Int { 16 + index }
    static func woken(_ thread: Int) -> Int { 20 + thread }
    static func isAdmitted(_ thread: Int) -> Int { 24 + thread }
    static func parkToken(_ thread: Int) -> Int { 28 + thread }
    static func slot(_ thread: Int) -> Int { 32 + thread }
    static func position(_ thread: Int) -> Int { 36 + thread }
    // Constants.
    static func helps(_ thread: Int) -> Int { 40 + thread }
    static func isImpatient(_ thread: Int) -> Int { 44 + thread }
    // Of the read that a thread has enqueued.
    static func position(ofReadBy thread: Int) -> Int { 48 + thread }
    static func isEnqueued(_ thread: Int) -> Int { 52 + thread }
}

enum Flag {
    static let exclusive: UInt8 = 1, biased: UInt8 = 2, revoking: UInt8 = 4
    static let closed: UInt8 = 8, hasWaiters: UInt8 = 16, wakePending: UInt8 = 32
    static let admission = exclusive | biased | closed
    static let queue = closed | hasWaiters | wakePending
}

enum Purpose { static let enter: UInt8 = 0, help: UInt8 = 1, drain: UInt8 = 2 }

/// The step at which a processor continues after `admitNext`.
enum Resumption: UInt8 {
    case begin, choose, reading, look, park, drain, pool

    var step: String {
        switch self {
        case .begin: "begin"
        case .choose: "choose"
        case .reading: "reading"
        case .look: "look"
        case .park: "park"
        case .drain: "drain"
        case .pool: "pool"
        }
    }
}

/// The registers of a processor.
enum Register: Int {
    case done, isCounted, mine, wantsExclusive, position, wasWoken, purpose, ran, resumption,
        unparks
    case mustRequestDrain, isTimedOut
}

extension World {
    subscript(_ me: Int, _ register: Register) -> UInt8 {
        get { processors[me].registers[register.rawValue] }
        set { processors[me].registers[register.rawValue] = newValue }
    }

    var isVacant: Bool { isVacantExceptBias && memory[Address.state] & Flag.biased == 0 }

    var isVacantExceptBias: Bool {
        memory[Address.state] & (Flag.exclusive | Flag.revoking) == 0
            && memory[Address.readers] == 0
    }

    var mustAdmitNext: Bool {
        let state = memory[Address.state]
        return state & Flag.closed != 0
            || state & (Flag.hasWaiters | Flag.wakePending) == Flag.hasWaiters
    }

    mutating func lock() -> Bool {
        guard memory[Address.lock] == 0 else { return false }
        memory[Address.lock] = 1
        return true
    }

    mutating func unlock() { memory[Address.lock] = 0 }

    mutating func count(_ me: Int) -> Bool {
        guard memory[Address.state] & (Flag.exclusive | Flag.closed) == 0 else { return false }
        memory[Address.readers] += 1
        self[me, .isCounted] = 1
        return true
    }

    mutating func countAdmitted(_ me: Int?) -> Bool {
        guard memory[Address.state] & Flag.exclusive == 0 else { return false }
        memory[Address.readers] += 1
        if let me { self[me, .isCounted] = 1 }
        return true
    }

    mutating func beginWriting() {
        memory[Address.writersInside] += 1
        check(memory[Address.writersInside] == 1, "two writers are inside")
        check(memory[Address.readersInside] == 0, "a writer enters while a reader is inside")
    }

    mutating func admitNext(_ me: Int, then resumption: Resumption) -> Move {
        self[me, .resumption] = resumption.rawValue
        return .to("lock and admit next")
    }

    /// Copies the flags of the queues into the state word.
    mutating func publish(_ omission: CoordinatorModel.Omission?, leaving: Bool = false) {
        let hasReads =
            omission != .closingForRead && waitQueue.contains { World.submitter(ofRead: $0) != nil }
        let closed =
            memory[Address.completed] < memory[Address.submitted] || memory[Address.starving] == 1
            || hasReads
        let flags =
            (closed ? Flag.closed : 0) | (waitQueue.isEmpty ? 0 : Flag.hasWaiters)
            | (memory[Address.wakePending] == 1 ? Flag.wakePending : 0)
        memory[Address.state] =
            memory[Address.state] & ~(Flag.queue | (leaving ? Flag.exclusive : 0)) | flags
    }

    // MARK: The wait queue

    var waitQueue: [Int] {
        (0..<4).compactMap {
            memory[Address.entry($0)] == 0 ? nil : Int(memory[Address.entry($0)]) - 1
        }
    }

    /// The thread that enqueued the read of this entry, or nil if the entry is a waiting thread.
    static func submitter(ofRead entry: Int) -> Int? { entry < 4 ? nil : entry - 4 }

    /// Whether any enqueued read has not ended.
    var hasReads: Bool { (0..<4).contains { memory[Address.isEnqueued($0)] == 1 } }

    func position(of entry: Int) -> UInt8 {
        let submitter = World.submitter(ofRead: entry)
        return memory[submitter.map { Address.position(ofReadBy: $0) } ?? Address.position(entry)]
    }

    func isWriter(_ entry: Int) -> Bool { entry < 4 && self[entry, .wantsExclusive] == 1 }

    /// How many enqueued writes may run before the first waiting writer or enqueued read enters.
    func limit(_ omission: CoordinatorModel.Omission?) -> UInt8 {
        let first = waitQueue.first {
            isWriter($0) || omission != .limitAtRead && World.submitter(ofRead: $0) != nil
        }
        return first.map { position(of: $0) } ?? memory[Address.submitted]
    }

    mutating func appendRead(of thread: Int) {
        memory[Address.position(ofReadBy: thread)] = memory[Address.submitted]
        memory[Address.isEnqueued(thread)] = 1
        append(thread + 4)
    }

    /// Whether an enqueued read that can be admitted is queued before a thread.
    func hasReadyRead(before thread: Int) -> Bool {
        let read = waitQueue.prefix { $0 != thread }.first { World.submitter(ofRead: $0) != nil }
        return read.map { position(of: $0) <= memory[Address.completed] } ?? false
    }

    /// The first reader to admit now: an enqueued read or, while writes wait, any reader.
    var nextToAdmit: Int? {
        let hasWrites = memory[Address.completed] < memory[Address.submitted]
        for entry in waitQueue {
            let isRead = World.submitter(ofRead: entry) != nil
            let isReady = position(of: entry) <= memory[Address.completed]
            if isReady && !isWriter(entry) && (isRead || hasWrites) { return entry }
            if isRead || memory[Address.starving] == 1 { return nil }
        }
        return nil
    }

    /// Whether a waiter is the first, only threads inside keep it out, and it has not closed
    /// admission.
    func isOvertaken(_ waiter: Int) -> Bool {
        memory[Address.starving] == 0 && waitQueue.first == waiter
            && memory[Address.position(waiter)] <= memory[Address.completed]
    }

    func firstReady(besideReaders: Bool) -> Int? {
        for waiter in waitQueue {
            if World.submitter(ofRead: waiter) != nil { return nil }
            let isReady = memory[Address.position(waiter)] <= memory[Address.completed]
            if isReady && (self[waiter, .wantsExclusive] == 0 || !besideReaders) { return waiter }
            if memory[Address.starving] == 1 { return nil }
        }
        return nil
    }

    mutating func append(_ entry: Int) {
        precondition(waitQueue.count < 4, "A model with more waiters needs more entries.")
        memory[Address.entry(waitQueue.count)] = UInt8(entry + 1)
    }

    mutating func remove(_ thread: Int) {
        if thread < 4, memory[Address.woken(thread)] == 1 {
            memory[Address.woken(thread)] = 0
            memory[Address.wakePending] = 0
        }
        if waitQueue.first == thread { memory[Address.starving] = 0 }
        let rest = waitQueue.filter { $0 != thread }
        for index in 0..<4 {
            memory[Address.entry(index)] = index < rest.count ? UInt8(rest[index] + 1) : 0
        }
    }

    mutating func wake(_ waiter: Int, by me: Int) {
        guard memory[Address.wakePending] == 0 else { return }
        memory[Address.wakePending] = 1
        memory[Address.woken(waiter)] = 1
        self[me, .unparks] |= 1 << UInt8(waiter)
    }
}
