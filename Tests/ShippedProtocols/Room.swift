import ExecutionContextsTesting
internal import Synchronization

/// A coordinator, what it guards, and what threads do with both.
final class Room: Sendable {
    /// How the word of the coordinator begins: see `ReadWriteWord`.
    enum Start: UInt64 {
        /// Readers announce themselves.
        case biased = 0b10
        /// Readers are counted.
        case counted = 0
        /// The next counted reader brings the bias.
        case almostBiased = 0x7f00
    }

    let coordinator: ReadWriteCoordinator
    let count = Shared(0, name: "count")
    /// What an owner of a hold writes beside.
    let beside = Shared(0, name: "beside")

    init(_ start: Start = .biased, writesOn context: some ExecutionContext = GlobalContext()) {
        coordinator = ReadWriteCoordinator(writesOn: context)
        unsafe coordinator.admission.word.pointee.store(start.rawValue, ordering: .relaxed)
    }

    @discardableResult
    func read() -> Int { coordinator.read { count.value } }
    func write() { coordinator.blockingWrite { count.value += 1 } }
    func enqueue() { coordinator.enqueueWrite { self.count.value += 1 } }

    func hold() -> Hold { Hold(coordinator.exclusion.hold()) }

    /// A hold that a thread may give to another one.
    final class Hold: @unchecked Sendable {
        // Unchecked: one thread after the other has it.
        private var hold: ExclusiveHold?
        init(_ hold: consuming ExclusiveHold) { self.hold = consume hold }
        func release() { hold.take()?.release() }
    }

    /// Declares that this many writes have run in the end, and that no thread is inside.
    func end(_ sim: SimulatedWorld, writes: Int) {
        sim.finally("all writes, and no thread is inside") {
            let word = unsafe ReadWriteWord(
                self.coordinator.admission.word.pointee.load(ordering: .relaxed))
            return self.count.value == writes && !word.isExclusive && !word.hasCountedReaders
        }
    }

    /// Makes the next slots of the calling thread those behind `depth` reads, of another
    /// coordinator.
    func deepen(to depth: UInt32, _ body: () -> Void) {
        let thread = unsafe Threads.current
        unsafe ReaderSlots.first(thread).pointee.store(1, ordering: .relaxed)
        unsafe thread.pointee.pushed_slots += depth - 1
        body()
        unsafe thread.pointee.pushed_slots -= depth - 1
        unsafe ReaderSlots.first(thread).pointee.store(0, ordering: .relaxed)
    }
}
