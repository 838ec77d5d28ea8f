internal import Synchronization

/// Who is told of the stalls of one view, and where.
final class StallWatch: Attendant {
    let limit: Duration
    private let report: @Sendable (Stall) -> Void
    /// Has something done where reports are made, when the limit has passed in a time.
    private let schedule: @Sendable (_ time: any TimeSource, _ work: @escaping Work) -> DelayedWork
    private let last = Atomic<UInt64>(0)

    init(
        of name: String, limit: Duration, on reporting: some ExecutionContext,
        from place: (fileID: StaticString, line: UInt),
        report: @escaping @Sendable (Stall) -> Void
    ) {
        require(
            limit > .zero,
            "'\(name)' was to be watched with a limit of \(limit), which every piece would pass at once. "
                + "Pass a limit above zero.")
        self.limit = limit
        self.report = report
        schedule = { time, work in
            Retimed(base: reporting, time: time).schedule(
                after: limit, fileID: place.fileID, line: place.line, work)
        }
    }

    func begin(in context: String, by time: any TimeSource) -> WatchedTurn {
        // Relaxed: the numbers order nothing.
        WatchedTurn(self, WatchedPiece(last.add(1, ordering: .relaxed).newValue, context, time))
    }

    /// Sets the alarm of a piece; it holds what is said of the piece and nothing of the work.
    func alarm(_ piece: WatchedPiece, _ phase: Stall.Phase, since: Moment) -> DelayedWork {
        schedule(piece.time) { [self] in
            guard piece.claimReport(in: phase) else { return }
            report(
                Stall(
                    phase: phase, piece: piece.number, context: piece.context,
                    lasted: since.duration(to: piece.time.now), limit: limit))
        }
    }
}

/// A context in the time of another one: where a report is made is one thing, when it is due another.
///
/// Not generic, so that the type of its delays is known: looking that up costs as much as the rest.
private struct Retimed: ExecutionContext {
    let base: any ExecutionContext
    let time: any TimeSource

    func execute(_ work: consuming @escaping Work) { base.execute(consume work) }

    func enqueue(_ work: consuming @escaping Work) { base.enqueue(consume work) }

    var binding: (@Sendable (_ work: @escaping Work) -> Work)? { base.binding }

    var name: String { base.name }
}

/// What a watched piece and its alarms know together.
final class WatchedPiece: Sendable {
    let number: UInt64
    let context: String
    let time: any TimeSource
    private let state = Atomic<UInt8>(State.waiting)

    private enum State {
        static let waiting: UInt8 = 0, running: UInt8 = 1, over: UInt8 = 2, reported: UInt8 = 3
    }

    init(_ number: UInt64, _ context: String, _ time: any TimeSource) {
        self.number = number
        self.context = context
        self.time = time
    }

    /// True once, and only while it is in that phase.
    func claimReport(in phase: Stall.Phase) -> Bool {
        exchange(phase == .waiting ? State.waiting : State.running, State.reported)
    }

    /// False if it has been reported, and is not to be again.
    func start() -> Bool { exchange(State.waiting, State.running) }

    func end() { _ = exchange(State.running, State.over) }

    // Relaxed: only that one of them wins matters; the piece is told of, not handed over.
    private func exchange(_ old: UInt8, _ new: UInt8) -> Bool {
        Seam.point()
        return state.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
    }
}

/// A watched piece as its work holds it: when the context lets go of that, the alarms go too.
final class WatchedTurn: AttendedTurn {
    private let watch: StallWatch
    private let piece: WatchedPiece
    /// Until it starts.
    private let alarm: DelayedWork

    init(_ watch: StallWatch, _ piece: WatchedPiece) {
        self.watch = watch
        self.piece = piece
        alarm = watch.alarm(piece, .waiting, since: piece.time.now)
    }

    // Of work that has run it is cancelled already, and this does nothing.
    deinit { alarm.cancel() }

    func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let held = started()
        defer { ended(held) }
        return try body()
    }

    /// It starts: from now on it is watched for holding the context.
    func started() -> DelayedWork? {
        let mayReport = piece.start()
        alarm.cancel()
        return mayReport ? watch.alarm(piece, .running, since: piece.time.now) : nil
    }

    func ended(_ held: DelayedWork?) {
        piece.end()
        held?.cancel()
    }
}
