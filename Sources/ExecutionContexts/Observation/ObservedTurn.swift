internal import Synchronization

/// One piece under way, for its observer: submitted, then run and ended, or let go of.
final class ObservedTurn: Sendable {
    private let piece: ObservedWork
    private let observer: any ContextObserver
    private let time: any TimeSource
    private let hasStarted = Atomic<Bool>(false)

    init(_ piece: ObservedWork, in time: any TimeSource, observer: any ContextObserver) {
        self.piece = piece
        self.time = time
        self.observer = observer
        observer.enqueued(piece)
    }

    // The work was let go of. Relaxed: whoever lets go of the last reference comes after all others.
    deinit {
        guard !hasStarted.load(ordering: .relaxed) else { return }
        observer.abandoned(piece, waited: piece.enqueued.duration(to: time.now))
    }

    /// Calls `body` as this piece: what it submits has this piece for its submitter.
    func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let start = started()
        // Counted by hand, since `running` follows the frame: a lifetime ends early where `body` does not return.
        let kept = unsafe Unmanaged.passRetained(self)
        defer {
            ended(start)
            unsafe kept.release()
        }
        return try unsafe Frame.enter(Frame.owner(self), note: Self.note) { () throws(Failure) in
            try body()
        }
    }

    func started() -> Moment {
        let now = time.now
        hasStarted.store(true, ordering: .relaxed)
        observer.started(piece, waited: piece.enqueued.duration(to: now))
        return now
    }

    func ended(_ start: Moment) {
        observer.finished(
            piece, waited: piece.enqueued.duration(to: start), ran: start.duration(to: time.now))
    }

    /// What marks the frames of observed pieces among others.
    private static let note = 3

    /// The observed piece that runs on this thread, the innermost if several do.
    static var running: ObservedWork.Identity? {
        guard let owner = unsafe Frame.owner(noting: note) else { return nil }
        // A frame stands only while the turn runs, which has counted itself.
        return unsafe Unmanaged<ObservedTurn>.fromOpaque(owner).takeUnretainedValue().piece.identity
    }
}

/// Numbers an observed view and its pieces.
final class ObservedNumbers: Sendable {
    private static let views = Atomic<UInt64>(0)
    private let last = Atomic<UInt64>(0)

    // Relaxed: the numbers order nothing, they only differ.
    let view = views.add(1, ordering: .relaxed).newValue

    func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
