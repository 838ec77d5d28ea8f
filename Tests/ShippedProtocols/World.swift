internal import CPlatform
import ExecutionContexts
import ExecutionContextsTesting

/// What the shipped sources need of the system, in one schedule of a simulation.
final class World: @unchecked Sendable {
    // Unchecked: the simulation runs one thread at a time, and no scheduling point is inside of a
    // change.

    /// The world of the schedule that runs. One simulation runs at a time.
    nonisolated(unsafe) static var current = World(isPortable: false)
    /// The operation that is weaker than it was written, in the schedules that run.
    nonisolated(unsafe) static var weakening: Weakening?
    /// All that could be weaker. No lock guards it: a lock would order the threads' memory.
    nonisolated(unsafe) static var weakenings: Set<Weakening> = []

    /// Whether the system has no barrier for all threads.
    let isPortable: Bool
    private var time: Int64 = 0
    private var count: UInt = 0
    private var sleepers: [UInt: [UInt32]] = [:]
    private let sim: SimulatedWorld?
    private var records: [UInt32: Record] = [:]
    private var cells: [UInt: Cell] = [:]
    private var jobs: [UInt: Work] = [:]

    init(isPortable: Bool, _ sim: SimulatedWorld? = nil) {
        (self.isPortable, self.sim) = (isPortable, sim)
        sim?.letWakesOrderNothing()
    }

    /// The number of a new atomic.
    func nextNumber() -> UInt {
        count += 1
        return count
    }

    /// A clock that goes on with each look at it.
    var now: Int64 {
        time += 400_000
        return time
    }

    // MARK: Threads

    /// The record of a thread, and the word on which it parks.
    @safe final class Record: @unchecked Sendable {
        // Unchecked: what the pointers lead to belongs to the thread, or is atomic.
        let thread: ThreadRecord = .allocate(capacity: 1)
        let parked = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)

        init(_ number: UInt32) {
            unsafe thread.initialize(to: ec_thread())
            unsafe thread.pointee.identifier = number
            // It does not spin, which would only make schedules longer.
            unsafe thread.pointee.simulation = UnsafeMutableRawPointer(thread)
            unsafe parked.initialize(to: Atomic(0))
        }

        deinit {
            unsafe parked.deinitialize(count: 1)
            unsafe parked.deallocate()
            unsafe thread.deallocate()
        }
    }

    var record: Record { record(of: ExecutionContexts.SimulationHooks.thread) }

    func record(of number: UInt32) -> Record {
        if let known = records[number] { return known }
        let record = Record(number)
        records[number] = record
        return record
    }

    // MARK: Sleeping on a word

    /// Sleeps until a wake-up, if the word still has the value. The system compares it itself.
    ///
    /// The wake-up orders nothing: only what the words carry is passed on.
    func wait(on word: UnsafePointer<Atomic<UInt32>>, _ expected: UInt32) {
        guard unsafe word.pointee.isStill(expected) else { return }
        let own = ExecutionContexts.SimulationHooks.thread
        unsafe sleepers[word.pointee.number, default: []].append(own)
        _ = ExecutionContexts.SimulationHooks.current?.park(until: .max)
    }

    func wake(_ word: UnsafePointer<Atomic<UInt32>>) {
        let number = unsafe word.pointee.number
        guard let first = sleepers[number]?.first else { return }
        sleepers[number]?.removeFirst()
        _ = ExecutionContexts.SimulationHooks.current?.unpark(first)
    }

    /// Makes all threads pass a fence, where the system can.
    func passBarrier() {
        if !isPortable { sim?.passBarrier() }
    }

    /// Lets other threads run.
    func relax() { sim?.yield() }

    // MARK: Jobs

    /// The two words of a job in memory.
    final class Cell: Sendable {
        let first = SimulatedAtomic<UInt>(0)
        let second = SimulatedAtomic<UInt>(0)
    }

    func cell(at address: UInt) -> Cell {
        if let known = cells[address] { return known }
        let cell = Cell()
        cells[address] = cell
        return cell
    }

    /// The number of a job.
    func add(_ job: @escaping Work) -> UInt {
        let number = UInt(jobs.count + 1)
        jobs[number] = job
        return number
    }

    /// The job with these words; one that does nothing where they belong to no job, or to two.
    func job(_ words: ec_words) -> Work {
        guard words.second == ~words.first, let job = jobs[words.first] else { return {} }
        return job
    }
}
