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
/// The recorder stores the newest events, up to its capacity, in memory that does not grow. It
/// stores each name once, for as long as it stores an event of it, and 4,000 names at a time;
/// contexts with further names share one more lane, "(others)". The same holds for labels: a job
/// with a further label shows where it was written. Contexts with the same name and the same time
/// source share a lane.
///
/// Instants are in the time of each context. Contexts whose times have different origins, for
/// example virtual time and system time, can report to one recorder. Each time is then counted from
/// its earliest stored instant, and instants of two times are never compared.
///
/// Any thread may report, pause and read at any time. A report does not call your code. In real
/// time most reports take no lock: each of up to 255 reporting threads has 3 kB for its latest
/// events. A reader, and a thread whose 3 kB are full, collects those of all threads. A recorder of
/// less than 1,024 events, and one in virtual time, takes its lock for each report.
public final class Recorder: ContextObserver {
    // Unchecked: accessed under the lock only, which also makes the run-time exclusivity checks
    // superfluous.
    @exclusivity(unchecked) private nonisolated(unsafe) var ring: RecorderRing
    private let lock = ObservationLock()
    private let buffers: RecorderBuffers
    private let systemTime = ObjectIdentifier(SystemTime.shared)
    /// The ring's generation, for threads without the lock.
    private let generation = Atomic<Int>(0)
    private let paused = Atomic<Bool>(false)

    /// Creates a recorder that stores `capacity` events; a capacity below 1 traps with a message.
    ///
    /// A job that runs causes three events.
    public convenience init(capacity: Int = 65_536) {
        self.init(capacity: capacity, mostNames: RecorderRing.nameLimit)
    }

    /// Creates a recorder that stores `mostNames` names at a time.
    init(capacity: Int, mostNames: Int) {
        require(
            capacity >= 1,
            "A recorder of \(capacity) events can record nothing (law 11). Pass a capacity of 1 or more."
        )
        buffers = RecorderBuffers(capacity: capacity)
        unsafe ring = RecorderRing(capacity: capacity, mostNames: mostNames)
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

    /// Records an event under the lock: in the buffer of `thread`, the calling one, if that has
    /// room, else in the ring, after all collected events. Zero means no buffer.
    @inline(never)
    private func record(
        _ kind: RecordedEvent.Kind, _ job: borrowing ObservedWork, started: ContextInstant,
        ended: ContextInstant, bufferOf thread: UInt32 = 0
    ) {
        guard isEnabled else { return }
        let event = RecorderEntry(
            kind: kind, thread: SimulationHooks.thread, lane: 0, job: job.identity,
            enqueued: job.enqueued.nanoseconds, started: started.nanoseconds,
            ended: ended.nanoseconds, submitter: job.submitter, completer: nil,
            source: RecordedSource(job.place))
        guard var packed = PackedEvent(event) else {
            let parts = PackedEvent.long(event)
            let job = copy job
            return withRing { $0.add(parts, of: job, isAsync: false, buffers) }
        }
        let job = copy job
        lock.withLock {
            let lane = unsafe ring.complete(&packed, of: job, buffers)
            let view = job.view
            if unsafe buffers.append(packed, lane, view, ring.generation, thread) { return }
            unsafe buffers.collect(into: &ring)
            unsafe ring.add(packed)
            unsafe buffers.note(lane, ofView: view, in: ring.generation, thread: thread)
        }
    }

    /// Records an event whose instant was read just before; in the buffer of this thread, if
    /// possible.
    @inline(__always)
    private func recordPromptly(
        _ kind: RecordedEvent.Kind, _ job: ObservedJob, started: ContextInstant,
        ended: ContextInstant
    ) {
        // The order among buffers is that of the system's clock, and the schedule of a simulation
        // must not depend on the free space in a buffer.
        let thread =
            job.work.timeSource == systemTime ? SimulationHooks.threadOutsideSimulations : 0
        if append(kind, job, started, ended, thread) { return }
        record(kind, job.work, started: started, ended: ended, bufferOf: thread)
    }

    /// Adds an event to the buffer of the calling thread, if that is ready.
    @inline(__always)
    private func append(
        _ kind: RecordedEvent.Kind, _ job: ObservedJob, _ started: ContextInstant,
        _ ended: ContextInstant, _ thread: UInt32
    ) -> Bool {
        // A label is looked up under the lock.
        guard isEnabled, kind != .enqueued || !job.work.origin.isLabeled,
            let buffer = unsafe buffers.buffer(of: thread)
        else { return false }
        return unsafe buffer._withUnsafeGuaranteedRef { buffer in
            let view = job.work.origin.view
            let enqueued = job.work.enqueued
            // Relaxed: an event that another thread reports during `clear()` may be discarded.
            // The thread itself has written its buffer's.
            guard unsafe buffer.generation == generation.load(ordering: .relaxed),
                let lane = buffer.lane(ofView: view),
                var event = PackedEvent(
                    kind, thread, view, job.work.id, job.work.submitter,
                    RecordedSource(job.work.place),
                    waited: UInt64(bitPattern: started.nanoseconds &- enqueued.nanoseconds),
                    ran: UInt64(bitPattern: ended.nanoseconds &- started.nanoseconds),
                    at: ended.nanoseconds)
            else { return false }
            event.setLane(lane)
            return buffer.append(event)
        }
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
        let parts = PackedEvent(entry).map { [$0] } ?? PackedEvent.long(entry)
        withRing { $0.add(parts, of: future, isAsync: true, buffers) }
    }

    /// Runs `body` under the lock, with all events in the ring; no user code may run in it (law 9).
    func withRing<Result>(_ body: (inout RecorderRing) -> Result) -> Result {
        var result: Result?
        lock.withLock {
            unsafe buffers.collect(into: &ring)
            result = unsafe body(&ring)
        }
        return result!
    }

    // MARK: Pausing

    /// Whether the recorder ignores reports.
    public var isPaused: Bool { !isEnabled }

    /// Keeps the recorded events, and ignores reports until `resume()`.
    public func pause() { paused.store(true, ordering: .relaxed) }

    /// Resumes recording, for jobs submitted from now on.
    ///
    /// A job submitted during the pause is not recorded. A job submitted before it that continues
    /// after it is.
    public func resume() { paused.store(false, ordering: .relaxed) }

    /// Discards the recorded events and names.
    public func clear() {
        let (capacity, mostNames) = withRing { ($0.capacity, $0.mostNames) }
        let fresh = RecorderRing(capacity: capacity, mostNames: mostNames)
        // The old ring is freed outside of the lock.
        _ = withRing { ring in
            let generation = ring.generation + 1
            let old = exchange(&ring, with: fresh)
            ring.generation = generation
            // Relaxed: see the load.
            self.generation.store(generation, ordering: .relaxed)
            return old
        }
    }

    // MARK: Reading

    /// How many events the recorder can store.
    public var capacity: Int { withRing { $0.capacity } }

    /// How many events were overwritten by newer ones.
    public var overwritten: Int { withRing { $0.overwritten } }

    /// The recorded events. Events of one thread are in the order in which it reported them; events
    /// of several threads, in real time, in the order of their instants.
    public var events: [RecordedEvent] {
        let (entries, lanes, _, _) = snapshot
        return RecorderEntry.byInstant(entries) { lanes[Int($0.lane)].timeSource == systemTime }
            .map { RecordedEvent($0, in: lanes[Int($0.lane)].name) }
    }

    /// The jobs with stored events, in the order in which they were first reported.
    public var jobs: [RecordedJob] { recording.publicJobs }

    /// The statistics of each context with stored events, sorted by name.
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
            ($0.copy(), $0.lanes.all, $0.labels.all, $0.overwritten)
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

// The observed views of the core report to a recorder through this.
extension Recorder: JobObserver {
    package func enqueued(_ job: ObservedJob) {
        let now = job.work.enqueued
        recordPromptly(.enqueued, job, started: now, ended: now)
    }

    package func started(_ job: ObservedJob, at instant: ContextInstant) {
        recordPromptly(.started, job, started: instant, ended: instant)
    }

    package func finished(_ job: ObservedJob, started: ContextInstant, at instant: ContextInstant) {
        recordPromptly(.finished, job, started: started, ended: instant)
    }

    package func abandoned(_ job: ObservedJob, at instant: ContextInstant) {
        recordPromptly(.abandoned, job, started: instant, ended: instant)
    }
}
