internal import CSimulation

/// A semaphore or a group of Dispatch: a count that threads wait for.
///
/// The object itself keeps the count. It lives as long as a thread waits for it, and only then it
/// is asked.
@safe struct SystemCounter {
    private let counter: ecs_counter

    init(_ counter: ecs_counter) { unsafe self.counter = counter }

    var word: Word { unsafe Word(counter.address) }
    var isGroup: Bool { unsafe counter.is_group }

    /// Takes a permit of the semaphore if there is one; of a group, whether no thread is in it.
    func take() -> Bool { unsafe ecs_try(counter) }

    func isSame(as other: SystemCounter) -> Bool { word == other.word }

    /// Gives back a permit, or leaves the group, as a thread outside of simulations does.
    func giveBack() { unsafe ecs_give_back(counter) }

    /// Whether a semaphore has fewer permits than it was made with, or a thread is in a group.
    var hasTakers: Bool { unsafe ecs_has_takers(counter) }

    func retain() { unsafe ecs_dispatch_retain(counter.address) }
    func release() { unsafe ecs_dispatch_release(counter.address) }
}

/// The semaphores and groups of one schedule, by their addresses.
struct Counters {
    /// What the schedule knows of one of them.
    struct State {
        let isGroup: Bool
        /// Nil for one that the schedule has not seen made: it was there before, or it is a static
        /// variable, which only the first schedule makes.
        let name: String?
        /// The permits of a semaphore, if they are known.
        var permits: Int?
        /// How many more permits the threads have taken than given back; of a group, how often they
        /// are in it.
        var taken = 0
        /// How many of these permits threads outside have given.
        var fromOutside = 0
        /// The threads that have a permit, or are in the group, once for each time.
        var holders: [Holder] = []
        /// Whether each permit was given back by a thread that had one, as those of a lock are.
        var isLock: Bool
        /// The thread that has signalled the semaphore last, or has left the group.
        var last: SimulatedThread.Title?
    }

    /// A thread that has taken a permit. The number may be another task's later.
    struct Holder: Equatable {
        let thread: Int
        let title: SimulatedThread.Title

        init(_ thread: SimulatedThread) { (self.thread, title) = (thread.id, thread.title) }
    }

    private var all: [Word: State] = [:]
    /// Those that the schedule uses and has not made. They are kept until it ends.
    private var kept: [Word: SystemCounter] = [:]

    mutating func make(_ counter: SystemCounter, _ name: String, value: Int) {
        all[counter.word] = State(
            isGroup: counter.isGroup, name: name, permits: counter.isGroup ? nil : value,
            isLock: value > 0)
    }

    mutating func forget(_ word: Word) { all[word] = nil }

    /// A work item is like a group that one thread is in until it has run.
    mutating func makeItem(_ group: SystemCounter) {
        all[group.word] = State(isGroup: true, name: Self.item, taken: 1, isLock: false)
    }

    static let item = "a work item"

    /// Keeps one that the schedule has not made.
    mutating func keep(_ counter: SystemCounter) {
        guard kept[counter.word] == nil else { return }
        counter.retain()
        kept[counter.word] = counter
    }

    /// Gives back what threads have taken of these in a schedule that has failed: its threads may
    /// never go on, and the next schedule begins like this one.
    ///
    /// Not what threads outside have given, also before a thread of the schedule took it: a
    /// semaphore gets no more permits than it was made with.
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
            // The thread gives what another one has taken, or what is new.
            isLock = false
            if isGroup && !holders.isEmpty { holders.removeFirst() }
        }
    }
}
