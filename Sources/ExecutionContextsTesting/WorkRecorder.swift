public import ExecutionContexts

/// The records of recording contexts, in one order over all of them.
public final class WorkRecorder: Sendable {
    private struct State {
        var jobs: [RecordedWork] = []
        var runs: [Int] = []
        var delays: [(delay: ObjectIdentifier, recorded: RecordedDelay)] = []
    }

    private let state = Locked(State())

    /// Creates an empty recorder.
    public init() {}

    /// The submitted jobs, in the order of submission.
    ///
    /// A delay counts as submitted when it is due.
    public var submitted: [RecordedWork] { state.withLock { $0.jobs } }

    /// The jobs that have started, in the order in which they started.
    public var started: [RecordedWork] {
        state.withLock { state in state.runs.map { state.jobs[$0] } }
    }

    /// The delays that were set, in that order, each with its source location.
    public var delays: [RecordedDelay] { state.withLock { $0.delays.map(\.recorded) } }

    func submit(_ kind: RecordedWork.Kind, to context: some ExecutionContext) -> Int {
        let (name, now) = (context.name, context.time.now)
        return state.withLock { state in
            state.jobs.append(
                RecordedWork(
                    number: state.jobs.count + 1, kind: kind, context: name, submitted: now))
            return state.jobs.count - 1
        }
    }

    func run<Value, Failure: Error>(
        _ index: Int, on context: some ExecutionContext, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let start = context.time.now
        state.withLock { state in
            state.jobs[index].started = start
            state.runs.append(index)
        }
        defer {
            let end = context.time.now
            state.withLock { $0.jobs[index].finished = end }
        }
        return try body()
    }

    func delay(_ delay: DelayedWork) {
        let recorded = RecordedDelay(
            context: delay.contextName, deadline: delay.deadline,
            sourceLocation: delay.knownSourceLocation)
        state.withLock { $0.delays.append((ObjectIdentifier(delay), recorded)) }
    }

    func cancel(_ delay: DelayedWork) {
        state.withLock { state in
            // The newest entry: an older delay may have lived at the same address.
            guard let index = state.delays.lastIndex(where: { $0.delay == ObjectIdentifier(delay) })
            else {
                return
            }
            state.delays[index].recorded.isCancelled = true
        }
    }
}

/// One job that a recording context received.
public struct RecordedWork: Hashable, Sendable {
    /// How a job was submitted.
    public enum Kind: Hashable, Sendable {
        /// By `execute`, `run`, `submit` or `tryExecute`, or as a job of a task.
        case execute
        /// By `enqueue`: a delay that is due, or a drain of a view.
        case enqueue
        /// By `executeBarrier`.
        case barrier
        /// By `sync` or `syncBarrier`.
        case sync
    }

    /// Its position among all submitted jobs, counted from 1.
    public let number: Int
    /// How it was submitted.
    public let kind: Kind
    /// The name of the context.
    public let context: String
    /// When it was submitted, in the time of its context.
    public let submitted: ContextInstant
    /// When it started; nil if it has not started.
    public internal(set) var started: ContextInstant?
    /// When it ended; nil if it has not ended.
    public internal(set) var finished: ContextInstant?
}

/// One delay that was set on a recording context or on a view of it.
public struct RecordedDelay: Hashable, Sendable {
    /// The name of the context, or of the view, that it is scheduled on.
    public let context: String
    /// When it is due.
    public let deadline: ContextInstant
    /// The source location where it was set, as file and line; nil for a sleep.
    public let sourceLocation: String?
    /// Whether it was cancelled before it ran.
    public internal(set) var isCancelled = false
}
