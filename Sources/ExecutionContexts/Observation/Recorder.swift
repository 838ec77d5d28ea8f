internal import CPlatform
internal import Synchronization

/// Keeps what the contexts, coordinators and `Async`s that report to it did lately, to be looked at.
///
/// ```swift
/// let recorder = Recorder()
/// let database = GlobalContext().serial("database").observed(by: recorder)
/// let index = CriticalSection(name: "index").observed(by: recorder)
/// database.execute { index.sync { print("one piece inside another") } }
/// try recorder.writeTimeline(to: "timeline.html")
/// ```
///
/// It keeps the last events, so many as it was made for, in memory that does not grow: names are kept once, and the
/// 1,000 first of them; what is called otherwise is counted under one more. Contexts of one name and one time share
/// a lane.
///
/// Moments are in the time of each context. Contexts whose times have different origins, virtual and system time for
/// example, can report to one recorder: each time is then counted from the earliest moment that is kept of it, and what
/// lies in two times is never compared.
///
/// Any thread may report, pause and read at any time. A report takes a lock for some nanoseconds, and calls nobody.
public final class Recorder: ContextObserver {
    private let ring: Guarded<RecorderRing>
    private let paused = Atomic<Bool>(false)

    /// Makes a recorder that keeps so many events, of which a piece that runs makes three; fewer than 1 stops the program.
    public init(capacity: Int = 65_536) {
        require(
            capacity >= 1,
            "A recorder of \(capacity) events could record nothing (law 11). Give it room for 1 or more.")
        ring = Guarded(RecorderRing(capacity: capacity))
    }

    // MARK: Being told

    public func enqueued(_ piece: ObservedWork) { note(.enqueued, piece) }

    public func started(_ piece: ObservedWork, waited: Duration) {
        note(.started, piece, after: waited)
    }

    public func finished(_ piece: ObservedWork, waited: Duration, ran: Duration) {
        note(.finished, piece, after: waited, ran: ran)
    }

    public func abandoned(_ piece: ObservedWork, waited: Duration) {
        note(.abandoned, piece, after: waited)
    }

    private func note(
        _ kind: RecordedEvent.Kind, _ piece: ObservedWork, after waited: Duration = .zero,
        ran: Duration = .zero
    ) {
        // Before the conversions, which nobody needs of a paused one.
        guard !isPaused else { return }
        let start = piece.enqueued.nanoseconds.addingSaturating(waited.saturatedNanoseconds)
        let entry = RecorderEntry(
            kind, piece.identity, thread: Self.thread, enqueued: piece.enqueued.nanoseconds, started: start,
            ended: start.addingSaturating(ran.saturatedNanoseconds), submitter: piece.submitter)
        ring.withLock { $0.add(entry, of: piece.context, in: piece.origin, isValue: false) }
    }

    /// Takes a report of something that is no piece of a context: it has only a beginning and an end.
    func noteValue(
        _ kind: RecordedEvent.Kind, _ value: ObservedWork, ended: Moment, completer: ObservedWork.Identity?
    ) {
        guard !isPaused else { return }
        let start = value.enqueued.nanoseconds
        let entry = RecorderEntry(
            kind, value.identity, thread: Self.thread, enqueued: start, started: start,
            ended: ended.nanoseconds, submitter: value.submitter, completer: completer)
        ring.withLock { $0.add(entry, of: value.context, in: value.origin, isValue: true) }
    }

    private static var thread: UInt32 { unsafe Threads.own.pointee.identifier }

    // MARK: Pausing

    /// Whether what is reported now is passed over.
    // Relaxed: a report that comes at the same time may be kept or not.
    public var isPaused: Bool { paused.load(ordering: .relaxed) }

    /// Keeps what there is, and passes over what is reported from now on.
    public func pause() { paused.store(true, ordering: .relaxed) }

    /// Records again.
    ///
    /// Of a piece that was submitted during the pause, its start and its end tell all that there is to know.
    public func resume() { paused.store(false, ordering: .relaxed) }

    /// Forgets what was recorded, the names as well.
    public func clear() {
        let fresh = RecorderRing(capacity: capacity)
        // The old one is freed outside of the lock.
        _ = ring.withLock { ring in exchange(&ring, with: fresh) }
    }

    // MARK: What there is

    /// How many events are kept.
    public var capacity: Int { ring.withLock { $0.capacity } }

    /// How many events were overwritten by newer ones.
    public var overwritten: Int { ring.withLock { $0.overwritten } }

    /// The events that are kept, in the order in which they were reported.
    public var events: [RecordedEvent] {
        let (entries, lanes, _) = snapshot
        return entries.map { RecordedEvent($0, in: lanes[Int($0.lane)].name) }
    }

    /// The pieces of which events are kept, in the order in which they were reported first.
    public var pieces: [RecordedPiece] { recording.publicPieces }

    /// What can be told of each context in numbers, by its name.
    public var totals: [RecordedTotals] { recording.totals }

    /// A picture of what there is, taken at once and worked out outside of the lock.
    var recording: Recording {
        let (entries, lanes, overwritten) = snapshot
        return Recording(entries, lanes: lanes, overwritten: overwritten)
    }

    private var snapshot: (entries: [RecorderEntry], lanes: [RecorderLane], overwritten: Int) {
        ring.withLock { ($0.copy(), $0.lanes, $0.overwritten) }
    }
}
