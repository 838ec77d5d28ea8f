internal import CPlatform
import ExecutionContexts
import ExecutionContextsTesting

/// What the shipped sources need of the system, in one schedule of a simulation.
final class World: @unchecked Sendable {
    // Unchecked: the simulation runs one thread at a time, and no scheduling point is inside of a
    // change.

    /// The world of the schedule that runs. One simulation runs at a time.
    nonisolated(unsafe) static var current = World(isPortable: false, nil)
    /// The operation that is weaker than it was written, in the schedules that run.
    nonisolated(unsafe) static var weakening: Weakening?
    /// All that could be weaker. No lock guards it: a lock would order the threads' memory.
    nonisolated(unsafe) static var weakenings: Set<Weakening> = []
    /// Whether the operations add to them.
    nonisolated(unsafe) static var notes = false

    /// Whether the system has no barrier for all threads.
    let isPortable: Bool
    private var time: Int64 = 0
    private var sleepers: [UInt: [UInt32]] = [:]
    private let sim: SimulatedWorld?
    private var cells: [UInt: Cell] = [:]
    private var jobs: [UInt: Work] = [:]
    let atomics = Atomics()
    let threads = WorldThreads()

    private init(isPortable: Bool, _ sim: SimulatedWorld?) {
        (self.isPortable, self.sim) = (isPortable, sim)
        sim?.letWakesOrderNothing()
    }

    /// Begins the world of a schedule, in which the calling thread builds the program.
    static func begin(isPortable: Bool, _ sim: SimulatedWorld) {
        current = World(isPortable: isPortable, sim)
        current.threads.begin()
    }

    /// The values of an atomic, for an operation of the calling thread.
    func use(_ number: UInt) -> AnyObject {
        hasRelaxed = false
        return atomics.use(number)
    }

    /// A clock that goes on with each look at it.
    var now: Int64 {
        time += 400_000
        return time
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

    /// Whether the barrier for all threads does nothing, in the schedules that run.
    nonisolated(unsafe) static var lacksBarrier = false

    /// Makes all threads pass a fence, where the system can.
    func passBarrier() {
        if !isPortable && !Self.lacksBarrier { sim?.passBarrier() }
    }

    /// Lets other threads run; once, if nothing happens in between.
    func relax() {
        if !hasRelaxed { sim?.yield() }
        hasRelaxed = true
    }
    private var hasRelaxed = false

    /// Runs `body` on a new thread, whose record no later thread of the system inherits.
    func spawn(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
        sim?.spawn(name) { [threads] in
            defer { threads.forget() }
            try body()
        }
    }

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
