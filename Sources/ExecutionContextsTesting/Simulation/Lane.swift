internal import ExecutionContexts
internal import Synchronization

/// One thread of a simulated program, in one schedule.
///
/// A lane that serves a context ends its body when nothing waits, and begins it again when something comes.
final class Lane: @unchecked Sendable {
    // Unchecked: everything but the edge belongs to whoever has the turn.

    enum State { case ready, asleep, waiting, idle, ended }

    /// What a lane waits for, for the text of a failure.
    enum Wait {
        case nothing
        case lock(Word)
        case context(JobLine)
        /// A coordinator, with the word that names its writer and the context that runs its writes.
        case coordinator(Word, writer: Word, carrier: String)
    }

    /// One piece of a context's work that the lane is running.
    struct Running {
        let line: JobLine
        let isExclusive: Bool
        /// The lane that waits for it, whose contexts are current here, too.
        let caller: Lane?
    }

    let id: Int
    let name: String
    let thread: LaneThread
    /// The context that it serves, if it does.
    let line: JobLine?
    /// What was done before the lane began, and what it did before it ended, is seen.
    let edge = Edge()

    var body: (() -> Void)?
    var state = State.ready
    /// How often it has come to a point at which another may have the turn; what names a point in a schedule.
    var operations = 0
    /// How many points it has passed without losing the turn.
    var run = 0
    /// How often it is inside of what must not lose the turn.
    var undivided = 0
    var deadline = Int64.max
    /// Woken before it slept.
    var hasToken = false
    var wasWoken = false
    var wait = Wait.nothing
    /// What it has said it will wait for when it sleeps next.
    var awaited: Wait?
    /// The locks that it holds, by their owners' words.
    var held: [Word] = []
    /// The lock that it tried last and found taken.
    var refused: Word?
    var running: [Running] = []

    init(id: Int, name: String, thread: LaneThread, line: JobLine? = nil, body: @escaping () -> Void) {
        self.id = id
        self.name = name
        self.thread = thread
        self.line = line
        self.body = body
    }

    /// Whether it has come to its end, or to where there is nothing for it to do.
    var isDone: Bool { state == .ended || state == .idle }
}

/// An order between two threads that the program itself would make, for the thread sanitizer to see.
final class Edge: Sendable {
    private let word = Atomic(0)

    /// What the caller did before is seen by those who `follow` later.
    func precede() { Unseen.suspended { word.add(1, ordering: .releasing) } }

    func follow() { Unseen.suspended { _ = word.load(ordering: .acquiring) } }

    /// An edge that what the caller has done precedes.
    static func preceded() -> Edge {
        let edge = Edge()
        edge.precede()
        return edge
    }
}
