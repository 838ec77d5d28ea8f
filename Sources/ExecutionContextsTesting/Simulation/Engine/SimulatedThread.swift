internal import CAccesses
internal import ExecutionContexts
internal import Synchronization

/// One thread of a simulated program, in one schedule.
///
/// A thread that serves a context ends its body when the queue is empty, and runs it again when a
/// job arrives.
final class SimulatedThread: @unchecked Sendable {
    // Unchecked: the thread that owns the scheduler token owns everything except the edge.

    enum State { case ready, asleep, waiting, idle, ended }

    /// What the thread waits for, for the text of a failure.
    enum Wait {
        case nothing
        case lock(Word)
        case context(SimulatedJobQueue)
        case systemLock(SystemLock)
        case counter(SystemCounter)
        /// A coordinator, with the word of its writer and the name of its write context.
        case coordinator(Word, writer: Word, writeContext: String)
        /// A step of another thread: it polls.
        case turn
        /// A change of an atomic that its loop loads.
        case change
    }

    /// A load of an atomic, by the loop that a thread may be in.
    struct Poll {
        let atomic: Word
        let code: UInt
        /// The number of the value.
        let version: UInt32
        /// The state of the thread before it; zero if it is not known.
        let state: UInt64
    }

    /// A lock of the library, or of the system.
    enum EnteredLock {
        case own(Word), system(SystemLock)

        var word: Word {
            switch self {
            case .own(let word): word
            case .system(let lock): lock.word
            }
        }
    }

    /// One job of a context that the thread is running.
    struct Running {
        let queue: SimulatedJobQueue
        let isExclusive: Bool
        /// The thread that waits for the job, whose contexts are current here too.
        let caller: SimulatedThread?
    }

    /// Its name, which is formatted only where it is shown.
    enum Title: Equatable {
        case none
        case plain(String)
        /// A task without a name, numbered in the order of beginning.
        case task(Int)
        /// A job that resumes the task with this name.
        indirect case endOfYield(Title)

        /// The task's own title: the job that resumes it is the runtime's.
        var withoutYield: Title { if case .endOfYield(let task) = self { task } else { self } }

        var text: String {
            switch self {
            case .none: "a task"
            case .plain(let name): name
            case .task(let number): "task \(number)"
            case .endOfYield(let task): "the end of a yield of '\(task.text)'"
            }
        }
    }

    private(set) var id: Int
    var title: Title
    var name: String { title.text }
    /// The system thread that runs it, from its beginning to its end.
    var host: HostThread?
    /// The queue that it serves, if it serves a context.
    let queue: SimulatedJobQueue?
    /// Makes visible what was written before the thread began, and what it wrote before it ended.
    let edge = Edge()

    var body: (() -> Void)?
    var state = State.ready
    /// How many scheduling points it has reached; with the thread, this number identifies a point
    /// of a schedule.
    var operations = 0
    /// What it does when it continues from its scheduling point; nil elsewhere.
    var intent: Intent?
    /// How many points it has passed in a row without a switch.
    var run = 0
    /// How many sections without scheduling points it is in.
    var undivided = 0
    var deadline = Int64.max
    /// Whether it was unparked before it parked.
    var hasToken = false
    var wasWoken = false
    var wait = Wait.nothing
    /// Whether the system condition that it waits for was signalled to it, or the group that it
    /// waits for has become empty.
    var isSignalled = false
    /// How many locks of which nothing is known it has taken since its last step.
    var unseenLocks = 0
    /// When its wait for an expectation of XCTest is too long.
    var expectationLimit = Int64.min / 2
    /// Whether it waits outside of the simulation for a semaphore from there.
    var waitsOutside = false
    /// The step at which it began to wait for a system condition or lock.
    var waitNumber = 0
    /// The loads that it has made since it did anything else, and how many operations it had made
    /// by then.
    var polls: [Poll] = []
    var lastPoll = 0
    /// Its state before the load that follows, if it has made that load before.
    var loopState: UInt64 = 0
    /// Whether an atomic has changed for which it waits, and since when it does.
    var isChanged = false
    var waitTime = Int64(0)
    /// What it will wait for when it next parks.
    var awaited: Wait?
    /// The locks of the library that it holds, by their owners' words.
    var held: [Word] = []
    /// The locks of the system that the simulation has seen it take.
    var locks: [SystemLock] = []
    /// The lock that it is about to take, and waits for if it is taken.
    var entering: EnteredLock?
    /// Whether it has found that lock taken, and waits in the lock's own queue.
    var isQueued = false
    /// The last lock that it found taken.
    var refused: Word?
    var running: [Running] = []
    /// The Dispatch jobs that it runs, the innermost one last.
    var dispatchFrames: [DispatchFrame] = []
    /// Whether it runs a job of a queue of XCTest, in which there is no scheduling point.
    var isInXCTest: Bool { dispatchFrames.last?.queue.isOfXCTest == true }
    /// Whether its task yields, with the end of its job.
    var hasYielded = false
    /// Whether its task itself yields; for the story.
    var isYielding = false
    /// Whether it runs tasks, one job after another.
    private(set) var isOfTasks = false
    /// The task that it runs.
    var task: TaskRecord?
    /// The index of its task among all that were given a thread.
    var assignment = 0
    /// The tasks that its job has made ready since its last act, by their names; for the story.
    var resumed: [String] = []
    /// The next thread that a later schedule can reuse.
    var nextSpare: SimulatedThread?
    /// The job that it runs next.
    var next: TaskJob?
    /// The index of that job among all that were ready.
    var arrival = 0
    /// Whether the thread itself enqueued it, by changing its actor, before which it may have been
    /// delayed.
    var mayBeLate = false
    /// The actor or executor that its job holds exclusively; zero for none.
    var isolation: UInt = 0

    init(
        id: Int, name: String, queue: SimulatedJobQueue? = nil, body: @escaping () -> Void
    ) {
        self.id = id
        title = .plain(name)
        self.queue = queue
        self.body = body
    }

    /// A thread that runs tasks, one job after another.
    init(ofTasks id: Int) {
        self.id = id
        title = .none
        queue = nil
        isOfTasks = true
    }

    /// Whether it has taken a lock of the system.
    func has(_ lock: SystemLock) -> Bool { locks.contains { $0.word == lock.word } }

    /// Whether it may run tasks of a later schedule: it is between two jobs, and holds nothing.
    var isReusable: Bool {
        isOfTasks && state == .idle && host == nil && next == nil && undivided == 0 && held.isEmpty
            && locks.isEmpty && running.isEmpty && dispatchFrames.isEmpty
    }

    /// Makes it a thread of a new schedule.
    func reuse(_ id: Int) {
        self.id = id
        title = .none
        (operations, run, deadline, isolation) = (0, 0, .max, 0)
        (hasToken, wasWoken, hasYielded, isQueued) = (false, false, false, false)
        (wait, awaited, refused, task, intent) = (.nothing, nil, nil, nil, nil)
        (resumed, isYielding, polls) = ([], false, [])
    }

    /// The number that identifies it in locks and waiters; zero while no system thread runs it.
    var number: UInt32 { host?.identifier ?? 0 }

    /// Whether it has ended, or has no job to run.
    var isDone: Bool { state == .ended || state == .idle }

    /// Whether it waits for a semaphore or a group of Dispatch, which a thread outside may signal.
    var waitsForCounter: Bool {
        guard !isDone, case .counter = wait else { return false }
        return true
    }

    /// Whether it waits for a condition of the system, which a thread outside may signal.
    var waitsForCondition: Bool {
        guard !isDone, case .systemLock(let lock) = wait else { return false }
        return lock.isCondition
    }
}

/// A happens-before edge that the program itself would create, shown to the thread sanitizer.
final class Edge: Sendable {
    private let word = Atomic(0)

    /// Makes the caller's earlier writes visible to threads that later call `acquire`.
    func release() {
        HiddenFromSanitizer.suspended { word.add(1, ordering: .releasing) }
        unsafe ecs_order_release(Word(of: self).pointer)
    }

    func acquire() {
        HiddenFromSanitizer.suspended { _ = word.load(ordering: .acquiring) }
        unsafe ecs_order_acquire(Word(of: self).pointer)
    }

    /// An edge that the caller has released.
    static func released() -> Edge {
        let edge = Edge()
        edge.release()
        return edge
    }
}
