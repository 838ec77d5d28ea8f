/// An object that threads share, as a schedule knows it.
///
/// An equal number in two schedules that begin alike means the same object.
struct SharedObject: Hashable {
    private let number: Int

    /// What each step of a task may use: of plain Swift code the simulation sees no details.
    static let tasks = SharedObject(number: 1)
    /// The numbers of new threads.
    static let threads = SharedObject(number: 2)
    static let time = SharedObject(number: 3)
    /// The state of the library's objects, except of critical sections: one operation may read
    /// words of several.
    static let library = SharedObject(number: 4)
    /// What the invariants of the program may look at after each step.
    static let checked = SharedObject(number: 5)

    /// The one order of all sequentially consistent operations, which fences use.
    static let fences = SharedObject(number: 6)

    /// The parker of a thread, on which it waits until another one wakes it.
    static func parker(of thread: Int) -> SharedObject { made(by: thread, 0) }

    /// The object that a thread created after `count` others.
    static func made(by thread: Int, _ count: Int) -> SharedObject {
        SharedObject(number: 1 << 40 | thread << 32 | count)
    }

    /// The object that a schedule found after `count` others, without having seen its creation.
    static func found(_ count: Int) -> SharedObject { SharedObject(number: 1 << 50 | count) }

    /// How many objects were found before this one; nil if it was made.
    var foundAt: Int? { number & 1 << 50 == 0 ? nil : number & (1 << 50 - 1) }
}

/// What a step does to an object.
struct Access: Hashable {
    enum Kind: Hashable { case reads, writes, acquires, releases }
    let object: SharedObject
    let kind: Kind

    /// Whether the order of the two can make a difference.
    ///
    /// Threads wait for a taken lock, so no step releases it where another may take it.
    func conflicts(with other: Access) -> Bool {
        guard object == other.object else { return false }
        switch (kind, other.kind) {
        case (.reads, .reads), (.releases, .releases), (.acquires, .releases),
            (.releases, .acquires):
            return false
        default: return true
        }
    }
}

/// The steps of one schedule, and what each does to shared objects.
///
/// A step extends from one scheduling point of a thread to the next.
final class OrderLog {
    struct Step {
        let thread: Int
        var accesses: [Access] = []
        /// The answers to its chances, as bits after a leading one.
        var chances: UInt64 = 1
        /// Whether any order with any other step can make a difference.
        var usesAll = false
        /// The steps that made the thread ready: it could not have preceded them.
        var causes: [Int] = []
        /// The last step that had to precede everything after it; negative if there was none.
        let barrier: Int
        /// The index of its choice in the schedule; nil where there was none.
        let choice: Int?
    }

    /// A thread that found a lock taken.
    struct Refusal {
        let thread: Int
        let lock: SharedObject
        /// How many steps preceded it.
        let place: Int
    }

    private(set) var steps: [Step] = []
    private(set) var refusals: [Refusal] = []
    private var causes: [[Int]] = Chooser.zeros.map { _ in [] }
    private var made: [Word: SharedObject] = [:]
    private var counts = Chooser.zeros
    private var barrier = -1
    /// How many objects were found whose creation was not seen.
    private(set) var foundCount = 0
    /// The tracked values that the program has.
    private var tracked: Set<SharedObject> = []
    /// The tracked values that invariants have read, in this schedule and in earlier ones.
    private(set) var checked: Set<SharedObject>
    private var names: [SharedObject: String] = [:]
    /// The names of the threads, when the schedule has ended.
    var threadNames: [String] = []
    /// Whether steps are recorded: the program runs, and has not failed.
    var isOpen = false

    /// Whether the program has tasks, in this schedule or in an earlier one.
    var hasTasks: Bool

    init(checked: Set<SharedObject> = [], hasTasks: Bool = false) {
        (self.checked, self.hasTasks) = (checked, hasTasks)
    }

    /// A thread begins a step.
    func begin(_ thread: Int, choice: Int?) {
        steps.append(
            Step(thread: thread, causes: causes[thread], barrier: barrier, choice: choice))
        causes[thread] = []
    }

    /// Records that a thread finds a lock taken: it could have come first.
    func refuse(_ thread: Int, _ lock: Word) { refuse(thread, object(lock), since: -1) }

    /// The same for a permit of a semaphore. Others may take one repeatedly, and each time this
    /// thread could have come first.
    func refusePermit(_ thread: Int, of semaphore: Word) {
        let object = object(semaphore)
        let taking = Access(object: object, kind: .acquires)
        refuse(thread, object, since: steps.lastIndex { $0.accesses.contains(taking) } ?? -1)
    }

    private func refuse(_ thread: Int, _ lock: SharedObject, since taking: Int) {
        // Once for each attempt: the thread makes no step in between.
        let own = steps.lastIndex { $0.thread == thread } ?? -1
        guard isOpen,
            !refusals.contains(where: {
                $0.thread == thread && $0.lock == lock && $0.place > max(own, taking)
            })
        else { return }
        refusals.append(Refusal(thread: thread, lock: lock, place: steps.count))
    }

    // MARK: What a step does

    /// The running step uses an object.
    func add(_ kind: Access.Kind, _ object: SharedObject) {
        guard isOpen, !steps.isEmpty else { return }
        let access = Access(object: object, kind: kind)
        if !steps[steps.count - 1].accesses.contains(access) {
            steps[steps.count - 1].accesses.append(access)
        }
    }

    func add(_ kind: Access.Kind, _ word: Word) {
        if isOpen { add(kind, object(word)) }
    }

    /// The running step may use any object.
    func addAll() {
        if isOpen && !steps.isEmpty { steps[steps.count - 1].usesAll = true }
    }

    /// Records the answer to a chance in the running step.
    func addChance(_ happens: Bool) {
        guard isOpen, let last = steps.indices.last else { return }
        steps[last].chances = steps[last].chances << 1 | (happens ? 1 : 0)
    }

    /// The running step makes a thread ready. Returns the step, for jobs that the thread takes
    /// later.
    @discardableResult
    func cause(_ thread: Int?) -> Int? {
        guard isOpen, !steps.isEmpty else { return nil }
        if let thread { causes[thread].append(steps.count - 1) }
        return steps.count - 1
    }

    /// The running step could not have preceded an earlier one.
    func follow(_ step: Int?) {
        guard isOpen, let step, !steps.isEmpty else { return }
        steps[steps.count - 1].causes.append(step)
    }

    /// All that has happened precedes what follows: time has passed, since no thread could run.
    func passTime() { barrier = steps.count - 1 }

    // MARK: Invariants

    /// An invariant reads a tracked value.
    func check(_ word: Word) { checked.insert(object(word)) }

    /// A check follows the step that ends: its order with others makes a difference if the
    /// invariants could see it.
    ///
    /// For tracked values it is known which ones they read. Anything else that a step writes, or
    /// that a lock guards, they may read, too.
    func noteCheck() {
        guard let step = steps.last else { return }
        let isSeen = step.accesses.contains { access in
            access.kind != .reads
                && (!tracked.contains(access.object) || checked.contains(access.object))
        }
        let check = Access(object: .checked, kind: .writes)
        if isSeen && !step.accesses.contains(check) {
            steps[steps.count - 1].accesses.append(check)
        }
    }

    // MARK: Objects

    /// A thread created a tracked value.
    func makeTracked(_ word: Word, _ name: String, by thread: Int) {
        make(word, name, by: thread)
        if let object = made[word] { tracked.insert(object) }
    }

    /// A thread created an object at this address.
    func make(_ word: Word, _ name: String, by thread: Int) {
        counts[thread] += 1
        let object = SharedObject.made(by: thread, counts[thread])
        made[word] = object
        names[object] = name
    }

    /// The object at an address is gone; another one, whose creation was not seen, is there.
    func forget(_ word: Word) { made[word] = nil }

    /// The name of an object whose creation the schedule saw.
    func name(of object: SharedObject) -> String? { names[object] }

    private func object(_ word: Word) -> SharedObject {
        if let known = made[word] { return known }
        let object = SharedObject.found(foundCount)
        foundCount += 1
        made[word] = object
        return object
    }
}
