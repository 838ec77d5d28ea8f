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
        /// A coordinator, with the word of its writer and the name of its write context.
        case coordinator(Word, writer: Word, writeContext: String)
    }

    /// One job of a context that the thread is running.
    struct Running {
        let queue: SimulatedJobQueue
        let isExclusive: Bool
        /// The thread that waits for the job, whose contexts are current here too.
        let caller: SimulatedThread?
    }

    let id: Int
    let name: String
    let host: HostThread
    /// The queue that it serves, if it serves a context.
    let queue: SimulatedJobQueue?
    /// Makes visible what was written before the thread began, and what it wrote before it ended.
    let edge = Edge()

    var body: (() -> Void)?
    var state = State.ready
    /// How many scheduling points it has reached; with the thread, this number identifies a point
    /// of a schedule.
    var operations = 0
    /// How many points it has passed in a row without a switch.
    var run = 0
    /// How many sections without scheduling points it is inside of.
    var undivided = 0
    var deadline = Int64.max
    /// Whether it was unparked before it parked.
    var hasToken = false
    var wasWoken = false
    var wait = Wait.nothing
    /// What it has announced to wait for when it next parks.
    var awaited: Wait?
    /// The locks that it holds, by their owners' words.
    var held: [Word] = []
    /// The lock that it tried last and found taken.
    var refused: Word?
    var running: [Running] = []

    init(
        id: Int, name: String, host: HostThread, queue: SimulatedJobQueue? = nil,
        body: @escaping () -> Void
    ) {
        self.id = id
        self.name = name
        self.host = host
        self.queue = queue
        self.body = body
    }

    /// Whether it has ended, or has no job to run.
    var isDone: Bool { state == .ended || state == .idle }
}

/// A happens-before edge that the program itself would create, shown to the thread sanitizer.
final class Edge: Sendable {
    private let word = Atomic(0)

    /// Makes the caller's earlier writes visible to threads that later call `acquire`.
    func release() { HiddenFromSanitizer.suspended { word.add(1, ordering: .releasing) } }

    func acquire() { HiddenFromSanitizer.suspended { _ = word.load(ordering: .acquiring) } }

    /// An edge that the caller has released.
    static func released() -> Edge {
        let edge = Edge()
        edge.release()
        return edge
    }
}
