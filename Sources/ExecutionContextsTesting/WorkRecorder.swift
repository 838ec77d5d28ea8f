public import ExecutionContexts

/// What recording contexts have written down, in one order over all of them.
public final class WorkRecorder: Sendable {
    private struct State {
        var pieces: [RecordedWork] = []
        var runs: [Int] = []
        var delays: [(delay: ObjectIdentifier, recorded: RecordedDelay)] = []
    }

    private let state = Locked(State())

    /// A recorder with nothing in it.
    public init() {}

    /// What was submitted, in that order.
    ///
    /// A delay counts as submitted when it has come.
    public var submitted: [RecordedWork] { state.withLock { $0.pieces } }

    /// What has started, in the order in which it did; what is missing here has not.
    public var started: [RecordedWork] { state.withLock { state in state.runs.map { state.pieces[$0] } } }

    /// The delays that were set, in that order, each with the place in the source where it was.
    public var delays: [RecordedDelay] { state.withLock { $0.delays.map(\.recorded) } }

    func submit(_ kind: RecordedWork.Kind, to context: some ExecutionContext) -> Int {
        let (name, now) = (context.name, context.time.now)
        return state.withLock { state in
            state.pieces.append(
                RecordedWork(number: state.pieces.count + 1, kind: kind, context: name, submitted: now))
            return state.pieces.count - 1
        }
    }

    func run<Value, Failure: Error>(
        _ index: Int, on context: some ExecutionContext, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let start = context.time.now
        state.withLock { state in
            state.pieces[index].started = start
            state.runs.append(index)
        }
        defer {
            let end = context.time.now
            state.withLock { $0.pieces[index].finished = end }
        }
        return try body()
    }

    func delay(_ delay: DelayedWork) {
        let recorded = RecordedDelay(
            context: delay.contextName, deadline: delay.deadline, origin: delay.place)
        state.withLock { $0.delays.append((ObjectIdentifier(delay), recorded)) }
    }

    func cancel(_ delay: DelayedWork) {
        state.withLock { state in
            // The newest: an older one may have lived at the same address.
            guard let index = state.delays.lastIndex(where: { $0.delay == ObjectIdentifier(delay) }) else {
                return
            }
            state.delays[index].recorded.isCancelled = true
        }
    }
}

/// One piece of work that a recording context was given.
public struct RecordedWork: Hashable, Sendable {
    /// How a piece was submitted.
    public enum Kind: Hashable, Sendable {
        /// By `execute`, `run`, `submit` or `tryExecute`, or as a job of a task.
        case execute
        /// By `enqueue`: a delay that has come, or the turn of a view.
        case enqueue
        /// By `executeBarrier`.
        case barrier
        /// By `sync` or `syncBarrier`.
        case sync
    }

    /// Its place among all that was submitted, from 1.
    public let number: Int
    /// How it was submitted.
    public let kind: Kind
    /// The name of the context.
    public let context: String
    /// When it was submitted, in the time of its context.
    public let submitted: Moment
    /// When it started, or nil if it has not.
    public internal(set) var started: Moment?
    /// When it ended, or nil if it has not.
    public internal(set) var finished: Moment?
}

/// One delay that was set on a recording context or on a view of it.
public struct RecordedDelay: Hashable, Sendable {
    /// The name of the context, or of the view, that it is to run on.
    public let context: String
    /// When it is due.
    public let deadline: Moment
    /// Where it was set, as file and line; nil for a sleep.
    public let origin: String?
    /// Whether it was cancelled before it ran.
    public internal(set) var isCancelled = false
}
