/// What the processors of the coordinator's model share, and what each remembers.
enum Cell {
    // `state` and `readers` are one word: a step that changes both changes them at once.
    static let state = 0, readers = 1
    // Guarded by the lock.
    static let lock = 2, completed = 3, submitted = 4, turnComing = 5, wakePending = 6, starving = 7
    /// Turns that the carrier has been asked for.
    static let turns = 8
    // What is really so, for the checks.
    static let readersInside = 9, writersInside = 10, run = 11
    /// The enqueued reads that have been counted in and wait for a thread: a bit for each submitter.
    static let ready = 12

    static func place(_ index: Int) -> Int { 16 + index }
    static func woken(_ thread: Int) -> Int { 20 + thread }
    static func isIn(_ thread: Int) -> Int { 24 + thread }
    static func token(_ thread: Int) -> Int { 28 + thread }
    static func slot(_ thread: Int) -> Int { 32 + thread }
    static func position(_ thread: Int) -> Int { 36 + thread }
    // What does not change.
    static func helps(_ thread: Int) -> Int { 40 + thread }
    static func isImpatient(_ thread: Int) -> Int { 44 + thread }
    // Of the read that a thread has enqueued.
    static func position(ofReadBy thread: Int) -> Int { 48 + thread }
    static func isEnqueued(_ thread: Int) -> Int { 52 + thread }
}

enum Flag {
    static let exclusive: UInt8 = 1, biased: UInt8 = 2, claimed: UInt8 = 4
    static let closed: UInt8 = 8, waited: UInt8 = 16, told: UInt8 = 32
    static let doors = exclusive | biased | closed
    static let ofLine = closed | waited | told
}

enum Purpose { static let enter: UInt8 = 0, help: UInt8 = 1, turn: UInt8 = 2 }

/// Where to go on after settling.
enum Back: UInt8 {
    case begin, choose, reading, attempt, sleep, turn, pool

    var step: String {
        switch self {
        case .begin: "begin"
        case .choose: "choose"
        case .reading: "reading"
        case .attempt: "attempt"
        case .sleep: "sleep"
        case .turn: "turn"
        case .pool: "pool"
        }
    }
}

/// What a processor remembers.
enum Register: Int {
    case done, isCounted, mine, wantsAlone, position, wasWoken, purpose, ran, back, unparks, mustAsk, isLate
}

extension World {
    subscript(_ me: Int, _ register: Register) -> UInt8 {
        get { processors[me].registers[register.rawValue] }
        set { processors[me].registers[register.rawValue] = newValue }
    }

    var isVacant: Bool { isVacantButForTheBias && memory[Cell.state] & Flag.biased == 0 }

    var isVacantButForTheBias: Bool {
        memory[Cell.state] & (Flag.exclusive | Flag.claimed) == 0 && memory[Cell.readers] == 0
    }

    var isAwaited: Bool {
        let state = memory[Cell.state]
        return state & Flag.closed != 0 || state & (Flag.waited | Flag.told) == Flag.waited
    }

    mutating func lock() -> Bool {
        guard memory[Cell.lock] == 0 else { return false }
        memory[Cell.lock] = 1
        return true
    }

    mutating func unlock() { memory[Cell.lock] = 0 }

    mutating func count(_ me: Int) -> Bool {
        guard memory[Cell.state] & (Flag.exclusive | Flag.closed) == 0 else { return false }
        memory[Cell.readers] += 1
        self[me, .isCounted] = 1
        return true
    }

    mutating func countIn(_ me: Int?) -> Bool {
        guard memory[Cell.state] & Flag.exclusive == 0 else { return false }
        memory[Cell.readers] += 1
        if let me { self[me, .isCounted] = 1 }
        return true
    }

    mutating func beginWriting() {
        memory[Cell.writersInside] += 1
        check(memory[Cell.writersInside] == 1, "two writers are inside")
        check(memory[Cell.readersInside] == 0, "a writer enters while a reader is inside")
    }

    mutating func settle(_ me: Int, then back: Back) -> Move {
        self[me, .back] = back.rawValue
        return .to("lock and settle")
    }

    /// Makes the flags of the word say what the line says.
    mutating func publish(_ omission: CoordinatorModel.Omission?, leaving: Bool = false) {
        let hasReads = omission != .closingForRead && line.contains { World.owner(ofRead: $0) != nil }
        let closed =
            memory[Cell.completed] < memory[Cell.submitted] || memory[Cell.starving] == 1 || hasReads
        let flags =
            (closed ? Flag.closed : 0) | (line.isEmpty ? 0 : Flag.waited)
            | (memory[Cell.wakePending] == 1 ? Flag.told : 0)
        memory[Cell.state] = memory[Cell.state] & ~(Flag.ofLine | (leaving ? Flag.exclusive : 0)) | flags
    }

    // MARK: The line

    var line: [Int] {
        (0..<4).compactMap { memory[Cell.place($0)] == 0 ? nil : Int(memory[Cell.place($0)]) - 1 }
    }

    /// The thread whose enqueued read stands in line under this number, or nil if it is a thread's own.
    static func owner(ofRead entry: Int) -> Int? { entry < 4 ? nil : entry - 4 }

    /// Whether an enqueued read has not ended.
    var hasReads: Bool { (0..<4).contains { memory[Cell.isEnqueued($0)] == 1 } }

    func position(of entry: Int) -> UInt8 {
        memory[World.owner(ofRead: entry).map { Cell.position(ofReadBy: $0) } ?? Cell.position(entry)]
    }

    func isWriter(_ entry: Int) -> Bool { entry < 4 && self[entry, .wantsAlone] == 1 }

    /// How many of the enqueued writes may run before the first waiting writer or enqueued read.
    func limit(_ omission: CoordinatorModel.Omission?) -> UInt8 {
        let first = line.first { isWriter($0) || omission != .limitAtRead && World.owner(ofRead: $0) != nil }
        return first.map { position(of: $0) } ?? memory[Cell.submitted]
    }

    mutating func appendRead(of thread: Int) {
        memory[Cell.position(ofReadBy: thread)] = memory[Cell.submitted]
        memory[Cell.isEnqueued(thread)] = 1
        append(thread + 4)
    }

    /// Whether an enqueued read that could be let in stands before a thread in line.
    func hasReadyRead(before thread: Int) -> Bool {
        let read = line.prefix { $0 != thread }.first { World.owner(ofRead: $0) != nil }
        return read.map { position(of: $0) <= memory[Cell.completed] } ?? false
    }

    /// The first reader that is counted in now: an enqueued one, or behind writes any.
    var nextToLetIn: Int? {
        let hasWrites = memory[Cell.completed] < memory[Cell.submitted]
        for entry in line {
            let isRead = World.owner(ofRead: entry) != nil
            let isReady = position(of: entry) <= memory[Cell.completed]
            if isReady && !isWriter(entry) && (isRead || hasWrites) { return entry }
            if isRead || memory[Cell.starving] == 1 { return nil }
        }
        return nil
    }

    /// Whether a waiter is the first, could enter but for others inside, and has not said that it starves.
    func isOvertaken(_ waiter: Int) -> Bool {
        memory[Cell.starving] == 0 && line.first == waiter
            && memory[Cell.position(waiter)] <= memory[Cell.completed]
    }

    func nextWaiter(isRead: Bool) -> Int? {
        for waiter in line {
            if World.owner(ofRead: waiter) != nil { return nil }
            let isReady = memory[Cell.position(waiter)] <= memory[Cell.completed]
            if isReady && (self[waiter, .wantsAlone] == 0 || !isRead) { return waiter }
            if memory[Cell.starving] == 1 { return nil }
        }
        return nil
    }

    mutating func append(_ entry: Int) {
        precondition(line.count < 4, "A model with more waiters needs more places.")
        memory[Cell.place(line.count)] = UInt8(entry + 1)
    }

    mutating func remove(_ thread: Int) {
        if thread < 4, memory[Cell.woken(thread)] == 1 {
            memory[Cell.woken(thread)] = 0
            memory[Cell.wakePending] = 0
        }
        if line.first == thread { memory[Cell.starving] = 0 }
        let rest = line.filter { $0 != thread }
        for index in 0..<4 { memory[Cell.place(index)] = index < rest.count ? UInt8(rest[index] + 1) : 0 }
    }

    mutating func wake(_ waiter: Int, by me: Int) {
        guard memory[Cell.wakePending] == 0 else { return }
        memory[Cell.wakePending] = 1
        memory[Cell.woken(waiter)] = 1
        self[me, .unparks] |= 1 << UInt8(waiter)
    }
}
