public import ExecutionContexts
internal import Synchronization

/// Records the latest events of the contexts, coordinators and `Async`s that report to it.
///
/// ```swift
/// let recorder = Recorder()
/// let database = GlobalContext().serial(named: "database").observed(by: recorder)
/// let index = CriticalSection(name: "index").observed(by: recorder)
/// database.execute { index.sync { print("one job inside another") } }
/// try recorder.writeTimeline(to: "timeline.html")
/// ```
///
/// The recorder keeps the newest events, up to its capacity, in memory that does not grow. It keeps
/// each name once, and the first 1,000 names; contexts with further names share one more lane. It
/// also keeps the first 1,000 labels; a job with a further one shows where it was written.
/// Contexts with the same name and the same time source share a lane.
///
/// Moments are in the time of each context. Contexts whose times have different origins, for
/// example virtual time and system time, can report to one recorder. Each time is then counted from
/// the earliest instant that is kept of it, and instants of two times are never compared.
///
/// Any thread may report, pause and read at any time. A report takes a lock for some nanoseconds,
/// and calls no code of yours.
public final class Recorder: ContextObserver {
    // Unchecked: accessed in `withRing` only, under the lock, which also makes the run-time
    // exclusivity checks superfluous.
    @exclusivity(unchecked) private nonisolated(unsafe) var ring: RecorderRing
    private let lock = ObservationLock()
    private let paused = Atomic<Bool>(false)

    /// Makes a recorder that keeps `capacity` events; a capacity below 1 traps with a message.
    ///
    /// A job that runs makes three events.
    public init(capacity: Int = 65_536) {
        require(
            capacity >= 1,
            "A recorder of \(capacity) events could record nothing (law 11). Give it room for 1 or more."
        )
        unsafe ring = RecorderRing(capacity: capacity)
    }

    // MARK: Observing

    // Relaxed: a job that is submitted meanwhile may be recorded or not.
    public var isEnabled: Bool { !paused.load(ordering: .relaxed) }

    public func enqueued(_ job: ObservedWork) {
        record(.enqueued, job, started: job.enqueued, ended: job.enqueued)
    }

    public func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {
        let start = job.enqueued.advanced(by: waited)
        record(.finished, job, started: start, ended: start.advanced(by: ran))
    }

    public func started(_ job: ObservedWork, waited: Duration) {
        let start = job.enqueued.advanced(by: waited)
        record(.started, job, started: start, ended: start)
    }

    public func abandoned(_ job: ObservedWork, waited: Duration) {
        let end = job.enqueued.advanced(by: waited)
        record(.abandoned, job, started: end, ended: end)
    }

    private func record(
        _ kind: RecordedEvent.Kind, _ job: ObservedWork, started: ContextInstant,
        ended: ContextInstant
    ) {
        guard isEnabled else { return }
        let event = RecorderEntry(
            kind: kind, thread: SimulationHooks.thread, lane: 0, job: job.identity,
            enqueued: job.enqueued.nanoseconds, started: started.nanoseconds,
            ended: ended.nanoseconds, submitter: job.submitter, completer: nil,
            source: RecordedSource(job.place))
        guard let packed = PackedEvent(event) else { return recordLong(event, job, isAsync: false) }
        lock.withLock { unsafe ring.add(packed, of: job) }
    }

    /// Records an event of an `Async`, which only begins and ends.
    func recordAsync(
        _ kind: RecordedEvent.Kind, _ future: ObservedWork, ended: ContextInstant,
        completer: ObservedWork.Identity?
    ) {
        guard isEnabled else { return }
        let start = future.enqueued.nanoseconds
        let entry = RecorderEntry(
            kind: kind, thread: SimulationHooks.thread, lane: 0, job: future.identity,
            enqueued: start, started: start, ended: ended.nanoseconds,
            submitter: future.submitter, completer: completer, source: .unknown)
        guard let packed = PackedEvent(entry) else {
            return recordLong(entry, future, isAsync: true)
        }
        lock.withLock { unsafe ring.add([packed], of: future, isAsync: true) }
    }

    private func recordLong(_ event: RecorderEntry, _ job: ObservedWork, isAsync: Bool) {
        let parts = PackedEvent.long(event)
        lock.withLock { unsafe ring.add(parts, of: job, isAsync: isAsync) }
    }

    /// Runs `body` under the lock; no user code may run in it (law 9).
    func withRing<Result>(_ body: (inout RecorderRing) -> Result) -> Result {
        var result: Result?
        lock.withLock { result = unsafe body(&ring) }
        return result!
    }

    // MARK: Pausing

    /// Whether the recorder ignores reports.
    public var isPaused: Bool { !isEnabled }

    /// Keeps the recorded events, and ignores reports until `resume()`.
    public func pause() { paused.store(true, ordering: .relaxed) }

    /// Records again the jobs that are submitted from now on.
    ///
    /// A job that was submitted during the pause is not recorded. One that was submitted before it
    /// and goes on after it is.
    public func resume() { paused.store(false, ordering: .relaxed) }

    /// Discards the recorded events and names.
    public func clear() {
        let fresh = RecorderRing(capacity: capacity)
        // The old ring is freed outside of the lock.
        _ = withRing { ring in
            let generation = ring.generation + 1
            let old = exchange(&ring, with: fresh)
            ring.generation = generation
            return old
        }
    }

    // MARK: Reading

    /// How many events the recorder keeps.
    public var capacity: Int { withRing { $0.capacity } }

    /// How many events were overwritten by newer ones.
    public var overwritten: Int { withRing { $0.overwritten } }

    /// The recorded events, in the order in which they were reported.
    public var events: [RecordedEvent] {
        let (entries, lanes, _, _) = snapshot
        return entries.map { RecordedEvent($0, in: lanes[Int($0.lane)].name) }
    }

    /// The jobs of which events are kept, in the order in which they were first reported.
    public var jobs: [RecordedJob] { recording.publicJobs }

    /// The statistics of each context, sorted by name.
    public var totals: [RecordedTotals] { recording.totals }

    /// The recording at this moment; copied under the lock, and computed outside of it.
    var recording: Recording {
        let (entries, lanes, labels, overwritten) = snapshot
        return Recording(entries, lanes: lanes, labels: labels, overwritten: overwritten)
    }

    var snapshot:
        (entries: [RecorderEntry], lanes: [RecorderLane], labels: [String], overwritten: Int)
    {
        let (parts, lanes, labels, overwritten) = withRing {
            ($0.copy(), $0.lanes, $0.labels.texts, $0.overwritten)
        }
        var entries: [RecorderEntry] = []
        entries.reserveCapacity(parts.count)
        var index = 0
        while index < parts.count {
            entries.append(PackedEvent.unpacked(parts, at: index))
            index += parts[index].length
        }
        return (entries, lanes, labels, overwritten)
    }
}

// The observed views of the core report to a recorder in this way.
extension Recorder: JobObserver {
    package func enqueued(_ job: ObservedJob) { enqueued(job.work) }

    package func started(_ job: ObservedJob, at instant: ContextInstant) {
        record(.started, job.work, started: instant, ended: instant)
    }

    package func finished(_ job: ObservedJob, started: ContextInstant, at instant: ContextInstant) {
        record(.finished, job.work, started: started, ended: instant)
    }

    package func abandoned(_ job: ObservedJob, at instant: ContextInstant) {
        record(.abandoned, job.work, started: instant, ended: instant)
    }
}
