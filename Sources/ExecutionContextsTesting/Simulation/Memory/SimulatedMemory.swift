internal import ExecutionContexts
internal import Synchronization

/// The memory of one schedule, as C11 and Swift define it: the values that a thread's loads may
/// return.
///
/// Each atomic keeps its latest values. A load may return any of them that the thread does not know
/// to be overwritten:
///
/// | operation        | what the thread knows afterwards                                  |
/// |------------------|-------------------------------------------------------------------|
/// | load             | that earlier values are overwritten                               |
/// | acquiring load   | the same, and all that the value carries                          |
/// | store            | that earlier values are overwritten                               |
/// | releasing store  | the same, and the value carries all that the thread knows         |
/// | exchange         | it loads the last value, and its own also carries what that did   |
/// | acquiring fence  | all that its loaded values carry                                  |
/// | releasing fence  | nothing new, and later values carry what it knows here            |
///
/// Sequentially consistent operations also know what all earlier ones have stored.
///
/// Other objects of the program, such as sections and contexts, pass on a thread's knowledge from
/// each use to the next.
///
/// Three things that Swift allows do not happen here: a store is never ordered before an earlier
/// one of its atomic, a load never returns what is stored later, and sequentially consistent
/// operations have the order in which they run.
final class SimulatedMemory {
    /// What one thread knows.
    private struct Knowledge {
        var now = MemoryView()
        /// What its loaded values carry.
        var loaded = MemoryView()
        /// What it knew at its last releasing fence.
        var fenced = MemoryView()
    }

    /// The last accesses of a plain variable.
    private struct Plain {
        var write: Access?
        var reads: [Access] = []

        struct Access {
            let thread: Int
            let number: Int32
            let location: CallerLocation?
        }
    }

    /// Identifies the memory: an atomic may be used in several schedules.
    let number = SimulatedMemory.numbers.add(1, ordering: .relaxed).newValue
    // Relaxed: only that the numbers differ matters.
    private static let numbers = Atomic(0)

    private var threads = [Knowledge](repeating: Knowledge(), count: Schedule.mostThreads)
    /// What the objects that threads share pass on.
    private var objects: [Word: MemoryView] = [:]
    private var library = MemoryView()
    private var wakes = [MemoryView](repeating: MemoryView(), count: Schedule.mostThreads)
    /// Whether a thread that is woken knows what its waker knew.
    var wakesPassOn = true
    private var plain: [Word: Plain] = [:]
    /// The values that sequentially consistent operations have stored, and what fences knew. Loads
    /// add nothing: that would forbid the behaviour of processors that forward a store to the next
    /// load.
    private var total = MemoryView()
    private var atomicCount = 0

    /// Returns the number of a new atomic.
    func makeAtomic() -> Int {
        defer { atomicCount += 1 }
        return atomicCount
    }

    // MARK: Atomics

    /// The oldest value of an atomic that a load may return.
    func oldest(of atomic: Int, for thread: Int, _ order: MemoryOrder) -> Int {
        let known = threads[thread].now.oldest(atomic)
        return order.isTotal ? max(known, total.oldest(atomic)) : known
    }

    /// A thread has loaded a value, which carries what its store passed on.
    func didLoad(
        _ value: Int, of atomic: Int, carrying carried: MemoryView, by thread: Int,
        _ order: MemoryOrder
    ) {
        threads[thread].now.see(value, of: atomic)
        if order.acquires {
            threads[thread].now.join(carried)
        } else {
            threads[thread].loaded.join(carried)
        }
    }

    /// A thread stores a value; returns what it carries.
    func willStore(_ value: Int, of atomic: Int, by thread: Int, _ order: MemoryOrder)
        -> MemoryView
    {
        threads[thread].now.see(value, of: atomic)
        if order.isTotal { total.see(value, of: atomic) }
        return order.releases ? threads[thread].now : threads[thread].fenced
    }

    func fence(_ thread: Int, _ order: MemoryOrder) {
        if order.acquires { threads[thread].now.join(threads[thread].loaded) }
        if order.isTotal {
            threads[thread].now.joinValues(total)
            total.joinValues(threads[thread].now)
        }
        if order.releases { threads[thread].fenced = threads[thread].now }
    }

    // MARK: Other objects

    /// A thread uses an object that passes on knowledge; without a word, an unnamed object of the
    /// library.
    func use(_ kind: Access.Kind, _ word: Word?, by thread: Int) {
        if kind != .releases {
            threads[thread].now.join(word.map { objects[$0] ?? MemoryView() } ?? library)
        }
        guard kind == .writes || kind == .releases else { return }
        if let word {
            objects[word, default: MemoryView()].join(threads[thread].now)
        } else {
            library.join(threads[thread].now)
        }
    }

    /// An object is new at this address, where another one may have been.
    func make(_ word: Word) {
        objects[word] = nil
        plain[word] = nil
    }

    /// A thread learns what another one knows.
    func pass(from thread: Int, to other: Int) { threads[other].now.join(threads[thread].now) }

    func unpark(_ sleeper: Int, by thread: Int) {
        if wakesPassOn { wakes[sleeper].join(threads[thread].now) }
    }
    func wake(_ sleeper: Int, by thread: Int) {
        if wakesPassOn { pass(from: thread, to: sleeper) }
    }
    func didPark(_ thread: Int) { threads[thread].now.join(wakes[thread]) }

    /// A thread learns what any thread knows: its next actions may be ordered after all that
    /// happened.
    func synchronize(_ thread: Int) {
        for other in threads.indices where other != thread { pass(from: other, to: thread) }
    }

    /// Every thread learns all that has happened.
    func synchronizeAll() {
        synchronize(0)
        for other in threads.indices.dropFirst() { pass(from: 0, to: other) }
    }

    // MARK: Plain variables

    /// An access that nothing orders with another one.
    struct Unordered {
        let thread: Int
        let kind: Access.Kind
        let location: CallerLocation?
    }

    /// A thread accesses a plain variable; returns an earlier access that does not happen before.
    func access(_ intent: Intent, by thread: Int) -> Unordered? {
        var state = plain[intent.word] ?? Plain()
        let known = threads[thread].now
        func isUnordered(_ access: Plain.Access) -> Bool {
            access.thread != thread && known.clock(access.thread) < access.number
        }
        var found: Unordered?
        if let write = state.write, isUnordered(write) {
            found = Unordered(thread: write.thread, kind: .writes, location: write.location)
        } else if intent.kind != .reads, let read = state.reads.first(where: isUnordered) {
            found = Unordered(thread: read.thread, kind: .reads, location: read.location)
        }
        let access = Plain.Access(
            thread: thread, number: threads[thread].now.tick(thread), location: intent.location)
        state.reads.removeAll { intent.kind != .reads || $0.thread == thread }
        if intent.kind == .reads { state.reads.append(access) } else { state.write = access }
        plain[intent.word] = state
        return found
    }
}
