internal import CSimulation

/// A Dispatch semaphore or group: a count that threads wait for.
///
/// The object itself holds the count. It is alive while a thread waits for it, and is queried only
/// then.
@safe struct SystemCounter {
    private let counter: ecs_counter

    init(_ counter: ecs_counter) { unsafe self.counter = counter }

    var word: Word { unsafe Word(counter.address) }
    var isGroup: Bool { unsafe counter.is_group }

    /// Takes a permit of a semaphore, if there is one; for a group, returns whether it is empty.
    func take() -> Bool { unsafe ecs_try(counter) }

    func isSame(as other: SystemCounter) -> Bool { word == other.word }

    /// Gives back a permit, or leaves the group, as a thread outside of simulations does.
    func giveBack() { unsafe ecs_give_back(counter) }

    /// Whether a semaphore has fewer permits than at its creation, or a group is not empty.
    var hasTakers: Bool { unsafe ecs_has_takers(counter) }

    func retain() { unsafe ecs_dispatch_retain(counter.address) }
    func release() { unsafe ecs_dispatch_release(counter.address) }
}

/// The semaphores and groups of one schedule, by address.
struct Counters {
    /// What the schedule knows about one of them.
    struct State {
        let isGroup: Bool
        /// Nil for one whose creation the schedule did not see: it existed before, or is a static
        /// variable, which only the first schedule creates.
        let name: String?
        /// The permits of a semaphore, if they are known.
        var permits: Int?
        /// How many more permits the threads have taken than given back; for a group, how often
        /// they have entered it.
        var taken = 0
        /// How many of these permits threads outside have given.
        var fromOutside = 0
        /// The threads that hold a permit, or are in the group, once for each time.
        var holders: [Holder] = []
        /// Whether each permit was given back by a thread that held one, as with a lock.
        var isLock: Bool
        /// The thread that last signalled the semaphore, or left the group.
        var last: SimulatedThread.Title?
    }

    /// A thread that holds a permit. The number may be another task's later.
    struct Holder: Equatable {
        let thread: Int
        let title: SimulatedThread.Title

        init(_ thread: SimulatedThread) { (self.thread, title) = (thread.id, thread.title) }
    }

    private var all: [Word: State] = [:]
    /// Those that the schedule uses and did not create, retained until it ends.
    private var kept: [Word: SystemCounter] = [:]

    mutating func make(_ counter: SystemCounter, _ name: String, value: Int) {
        all[counter.word] = State(
            isGroup: counter.isGroup, name: name, permits: counter.isGroup ? nil : value,
            isLock: value > 0)
    }

    mutating func forget(_ word: Word) { all[word] = nil }

    /// A work item is like a group that one thread leaves when it has run the item.
    mutating func makeItem(_ group: SystemCounter) {
        all[group.word] = State(isGroup: true, name: Self.item, taken: 1, isLock: false)
    }

    static let item = "a work item"

    /// Retains one that the schedule did not create.
    mutating func keep(_ counter: SystemCounter) {
        guard kept[counter.word] == nil else { return }
        counter.retain()
        kept[counter.word] = counter
    }

    /// Gives back the permits that threads have taken in a failed schedule: its threads may never
    /// continue, and the next schedule must begin like this one.
    ///
    /// It does not return permits that outside threads gave, also before a thread of the schedule
    /// took them: a semaphore gets no more permits than at its creation.
    func giveBack() {
        for (word, counter) in kept {
            guard let state = all[word], state.name == nil else { continue }
            for _ in 0..<max(state.taken - state.fromOutside, 0) where counter.hasTakers {
                counter.giveBack()
            }
        }
    }

    mutating func close() {
        for counter in kept.values { counter.release() }
        kept = [:]
    }

    subscript(_ counter: SystemCounter) -> State {
        get {
            all[counter.word] ?? State(isGroup: counter.isGroup, name: nil, isLock: false)
        }
        set { all[counter.word] = newValue }
    }
}

extension Counters.State {
    mutating func enter(_ thread: SimulatedThread) {
        taken += 1
        holders.append(.init(thread))
    }

    mutating func leave(_ thread: SimulatedThread) {
        taken -= 1
        last = thread.title
        let holder = Counters.Holder(thread)
        if let index = holders.lastIndex(of: holder) {
            holders.remove(at: index)
        } else {
            // The thread gives back another thread's permit, or adds a new one.
            isLock = false
            if isGroup && !holders.isEmpty { holders.removeFirst() }
        }
    }
}
