internal import ExecutionContexts

/// One event in five words, as a recorder's ring keeps it.
///
/// | form | header | job | submitter | instant | spans |
/// |---|---|---|---|---|---|
/// | short | ran, high | view, number | view, number | of the event | waited; ran, low |
/// | submitted | | view, number | view, number | of the event | source |
/// | completed | ran, high | view; ran, low | view, number | of the event | completer |
/// | long: 1 | | view | number | enqueued | started |
/// | long: 2 | | submitter's view | number | ended | thread |
/// | long: 3 | | completer's view | number | | source |
///
/// A submission has neither waited nor run, and stores its source instead; the kind distinguishes
/// it. Each header also has the form, the kind, the lane and the thread. An event is long, and
/// takes three of these, where a number does not fit: of a view or a job, from 2^32 on; of a
/// thread, from 2^24; of a wait or a run, from 2^44 nanoseconds, which are four hours.
struct PackedEvent: BitwiseCopyable {
    private var header: UInt64
    private var job: UInt64 = 0
    private var submitter: UInt64 = 0
    private var instant: Int64 = 0
    private var spans: UInt64 = 0

    private enum Form { static let short: UInt64 = 0, completed: UInt64 = 1, long: UInt64 = 2 }

    // Header: 2 bits of the form, 2 of the kind, 12 of the lane, 24 of the thread, 24 of `ran`.
    private static let lanes = 4, threads = 16, high = 40

    /// How many parts the event that begins here has.
    var length: Int { header & 3 == Form.long ? 3 : 1 }

    /// Whether the event is a submission, whose source a label may replace.
    var isSubmission: Bool { header >> 2 & 3 == UInt64(RecordedEvent.Kind.enqueued.rawValue) }

    /// The number of the lane.
    var lane: UInt32 { UInt32(header >> Self.lanes & 0xFFF) }

    /// The number of the label, if it has one; for an event that is not long.
    var label: UInt32? { isSubmission ? RecordedSource(word: spans).label : nil }

    /// The number of the label of an event in any form.
    static func label(of parts: [PackedEvent]) -> UInt32? { parts[parts.count - 1].label }

    /// When the event happened; for an event that is not long.
    var moment: Int64 { instant }

    /// Whether it precedes an event of another thread: events of one instant are in the order in
    /// which they happen to a job.
    func precedes(_ other: PackedEvent) -> Bool {
        instant != other.instant
            ? instant < other.instant : header >> 2 & 3 < other.header >> 2 & 3
    }

    /// Adds the lane, which is known later than the rest.
    mutating func setLane(_ lane: UInt32) { header |= UInt64(lane) << Self.lanes }

    /// The event in one part; nil if it is long. Its lane is not in it.
    @inline(__always)
    init?(_ event: RecorderEntry) {
        let waited = UInt64(bitPattern: event.started &- event.enqueued)
        let ran = UInt64(bitPattern: event.ended &- event.started)
        guard let completer = event.completer else {
            self.init(
                event.kind, event.thread, event.job.view, event.job.job, event.submitter,
                event.source, waited: waited, ran: ran, at: event.ended)
            return
        }
        // The end of an `Async`, which is job 1 of its own view and does not wait.
        guard event.kind != .enqueued, event.job.job == 1, waited == 0, ran >> 56 == 0,
            (completer.view | completer.job) >> 32 == 0
        else { return nil }
        self.init(
            event.kind, event.thread, event.job.view, ran & 0xFFFF_FFFF, event.submitter,
            event.source, waited: 0, ran: 0, at: event.ended)
        header |= Form.completed | (ran >> 32) << Self.high
        spans = completer.view << 32 | completer.job
    }

    /// An event in the short form; nil if a number does not fit. Its lane is not in it.
    @inline(__always)
    init?(
        _ kind: RecordedEvent.Kind, _ thread: UInt32, _ view: UInt64, _ number: UInt64,
        _ submitter: ObservedWork.Identity?, _ source: RecordedSource, waited: UInt64, ran: UInt64,
        at instant: Int64
    ) {
        // Zero for none: views count from 1.
        let (above, submitting) = (submitter?.view ?? 0, submitter?.job ?? 0)
        let limit: UInt64 = kind == .enqueued ? 0 : 44
        guard (view | number | above | submitting) >> 32 == 0, thread >> 24 == 0,
            (waited | ran) >> limit == 0
        else { return nil }
        header =
            Form.short | UInt64(kind.rawValue) << 2 | UInt64(thread) << Self.threads
            | (ran >> 20) << Self.high
        job = view << 32 | number
        self.submitter = above << 32 | submitting
        self.instant = instant
        spans = kind == .enqueued ? source.word : waited | ran << 44
    }

    /// Sets the source, which is known later than the rest if it is a label.
    static func setSource(_ source: RecordedSource, in parts: inout [PackedEvent]) {
        parts[parts.count - 1].spans = source.word
    }

    mutating func setSource(_ source: RecordedSource) { spans = source.word }

    /// The three parts of a long event.
    static func long(_ event: borrowing RecorderEntry) -> [PackedEvent] {
        let header = Form.long | UInt64(event.kind.rawValue) << 2
        var parts = [PackedEvent](repeating: PackedEvent(header: header), count: 3)
        parts[0].job = event.job.view
        parts[0].submitter = event.job.job
        parts[0].instant = event.enqueued
        parts[0].spans = UInt64(bitPattern: event.started)
        parts[1].job = event.submitter?.view ?? 0
        parts[1].submitter = event.submitter?.job ?? 0
        parts[1].instant = event.ended
        parts[1].spans = UInt64(event.thread)
        parts[2].job = event.completer?.view ?? 0
        parts[2].submitter = event.completer?.job ?? 0
        parts[2].spans = event.source.word
        return parts
    }

    private init(header: UInt64) { self.header = header }

    /// The event that begins at `index`.
    static func unpacked(_ parts: [PackedEvent], at index: Int) -> RecorderEntry {
        let first = parts[index]
        let kind = RecordedEvent.Kind(rawValue: UInt8(first.header >> 2 & 3))!
        let lane = first.lane
        if first.length == 3 {
            let (second, third) = (parts[index + 1], parts[index + 2])
            return RecorderEntry(
                kind: kind, thread: UInt32(second.spans), lane: lane,
                job: ObservedWork.Identity(ofView: first.job, job: first.submitter),
                enqueued: first.instant, started: Int64(bitPattern: first.spans),
                ended: second.instant, submitter: identity(second.job, second.submitter),
                completer: identity(third.job, third.submitter),
                source: RecordedSource(word: third.spans))
        }
        let isCompleted = first.header & 3 == Form.completed
        // A submission has its source in place of the spans.
        let hasSource = !isCompleted && kind == .enqueued
        let spans = hasSource ? 0 : first.spans
        let high = first.header >> Self.high
        let ran = Int64(
            isCompleted ? high << 32 | first.job & 0xFFFF_FFFF : high << 20 | spans >> 44)
        let waited = isCompleted ? 0 : Int64(spans & (1 << 44 - 1))
        let started = first.instant - ran
        return RecorderEntry(
            kind: kind, thread: UInt32(first.header >> threads & 0xFF_FFFF), lane: lane,
            job: ObservedWork.Identity(
                ofView: first.job >> 32, job: isCompleted ? 1 : first.job & 0xFFFF_FFFF),
            enqueued: started - waited, started: started, ended: first.instant,
            submitter: identity(first.submitter >> 32, first.submitter & 0xFFFF_FFFF),
            completer: isCompleted
                ? identity(spans >> 32, spans & 0xFFFF_FFFF) : nil,
            source: hasSource ? RecordedSource(word: first.spans) : .unknown)
    }

    private static func identity(_ view: UInt64, _ job: UInt64) -> ObservedWork.Identity? {
        view == 0 ? nil : ObservedWork.Identity(ofView: view, job: job)
    }
}
