internal import CPlatform
internal import Synchronization

/// One job as an observer sees it.
public struct ObservedWork: Sendable, Identifiable {
    /// What the jobs of one view have in common: stored once, since a job is made often.
    package let origin: ObservedOrigin
    package let place: CodePlace
    /// The number of the job: unique within its view, in the order of submission.
    public let id: UInt64
    /// When it was submitted, in the time of its context.
    public let enqueued: ContextInstant
    /// The identity of that time: instants of jobs with equal ones are comparable.
    public let timeSource: ObjectIdentifier
    /// The observed job that submitted it: the one running on the submitting thread, of any
    /// context.
    public let submitter: Identity?
    /// How many reported jobs of the view waited when this one had been submitted, with this one.
    ///
    /// Under submissions from several threads it is approximate.
    public let depth: Int
    /// The raw value of `priority`, or 0: with a `TaskPriority` the layout of this type would be
    /// unknown until run time, at a third of the cost of an observed job.
    private let priorityValue: UInt8

    init(
        _ id: UInt64, from origin: consuming ObservedOrigin, at enqueued: ContextInstant,
        of timeSource: ObjectIdentifier, _ place: CodePlace, depth: Int = 1
    ) {
        self.origin = consume origin
        self.place = place
        self.id = id
        self.depth = depth
        self.enqueued = enqueued
        self.timeSource = timeSource
        priorityValue = ec_task_priority()
        submitter = ObservedJob.running
    }

    /// The priority of the task that submitted it; nil outside of tasks.
    ///
    /// A job in the queue of a context has no priority of its own. The priorities of a
    /// `PrioritizedQueue` are not known here.
    public var priority: TaskPriority? {
        priorityValue == 0 ? nil : TaskPriority(rawValue: priorityValue)
    }

    /// Where it comes from. The origin has the label, which each copy of a job would retain here.
    package var source: JobSource { JobSource(place, label: origin.label) }

    /// The label that its submission carries, as ``ExecutionContext/labeled(_:)`` gives it.
    ///
    /// The drain of a view has a label of its own, as "drain of 'index'": it is a job of the
    /// library, in which the view runs its jobs. A hold has the label "hold". Nil for a job without
    /// a label.
    public var label: String? { source.shownLabel }

    /// The number of the observed view that it was submitted to, unique in the process.
    public var view: UInt64 { origin.view }

    /// The name of the context.
    public var context: String { origin.name }

    /// The identity of a job, unique in the process.
    public struct Identity: Hashable, Sendable {
        /// The number of the observed view.
        public let view: UInt64
        /// The number of the job within the view.
        public let job: UInt64
    }

    /// The identity of the job, unique in the process.
    public var identity: Identity { Identity(view: view, job: id) }
}

extension ObservedWork: Hashable {
    /// Whether both are the same job.
    public static func == (left: ObservedWork, right: ObservedWork) -> Bool {
        left.identity == right.identity
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// Where observed jobs come from: one view of a context, or one `Async`.
package class ObservedOrigin: @unchecked Sendable {
    // Unchecked because it can be inherited from; it has constants, and an atomic.
    package final let view: UInt64
    final let name: String
    /// The label of its jobs, and whether they have one.
    final let label: String?
    package final let isLabeled: Bool
    /// The origin of the jobs without a label; nil if this is it.
    private let origin: ObservedOrigin?
    private let begun = Atomic<UInt64>(0)

    private static let views = Atomic<UInt64>(0)

    init(_ name: String) {
        self.name = name
        label = nil
        isLabeled = false
        origin = nil
        // Relaxed: the numbers order nothing, they only differ.
        view = Self.views.add(1, ordering: .relaxed).newValue
    }

    /// The origin of jobs of another one that have a label.
    init(labeling origin: ObservedOrigin, _ label: String) {
        name = origin.name
        self.label = label
        isLabeled = true
        self.origin = origin
        view = origin.view
    }

    /// The number of jobs that have started, or were abandoned. Relaxed: it orders nothing.
    final var begunCount: UInt64 { begun.load(ordering: .relaxed) }

    final func began() {
        if let origin { origin.began() } else { begun.add(1, ordering: .relaxed) }  // As above.
    }
}

/// The time of one job: the system's, which is not retained, or another.
struct JobTime: Sendable {
    private let other: (any TimeSource)?

    init() { other = nil }

    @inline(never)
    init(_ time: any TimeSource) { other = time === SystemTime.shared ? nil : time }

    @inline(__always)
    var now: ContextInstant { other?.now ?? SystemTime.now }

    /// The identity of the time, where `system` is that of the system's.
    @inline(__always)
    func identity(_ system: ObjectIdentifier) -> ObjectIdentifier { other?.identity ?? system }
}

/// The completion guard of an observed job: it runs and ends, or is dropped.
@safe package class ObservedJob: SourcedJob, @unchecked Sendable {
    // Unchecked because it can be inherited from; it has constants and an atomic.
    package final let work: ObservedWork
    private let time: JobTime
    /// Kept by the view, which the origin of `work` keeps, or is.
    private let reports: Unmanaged<JobReports>
    private let hasStarted = Atomic<Bool>(false)

    /// The caller then calls `didSubmit`: in here, it would retain this object.
    @inline(__always)
    init(
        of view: borrowing ObservedView, from origin: consuming ObservedOrigin,
        in time: consuming JobTime, _ place: CodePlace
    ) {
        let (number, depth) = view.next()
        work = ObservedWork(
            number, from: consume origin, at: time.now, of: time.identity(view.systemTime), place,
            depth: depth)
        self.time = consume time
        unsafe reports = view.unretained
        super.init()
    }

    @inline(__always)
    final func didSubmit() { report { $0.enqueued(self) } }

    /// What a view behind this one receives.
    override package final var source: JobSource { work.source }

    // The job was dropped. Relaxed: the last release of this object comes after all others.
    deinit {
        guard !hasStarted.load(ordering: .relaxed) else { return }
        work.origin.began()
        let now = time.now
        report { $0.abandoned(self, at: now) }
    }

    @inline(__always)
    private final func report(_ event: (JobReports) -> Void) {
        unsafe reports._withUnsafeGuaranteedRef(event)
    }

    /// Runs `body` as this job: what it submits has this job as its submitter. `answers` says that
    /// the end of `body` is that of the job, and not what a submission inside of `body` notes.
    @inline(__always)
    final func run<Value, Failure: Error>(
        answers: Bool = true, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let start = started()
        // The frame points to the report on this stack, not to this object: a lifetime that lasts
        // to the end of a scope ends early if `body` does not return.
        var report = Frame.Report(view: work.view, job: work.id)
        defer { ended(start, report.error) }
        return try unsafe withUnsafeMutablePointer(to: &report) { (report) throws(Failure) in
            do throws(Failure) {
                let value = try unsafe Frame.enter(
                    Frame.Owner(report), note: Frame.reported, body)
                if answers { unsafe report.pointee.error = nil }
                return value
            } catch {
                unsafe report.pointee.error = error
                throw error
            }
        }
    }

    final func started() -> ContextInstant {
        work.origin.began()
        let now = time.now
        hasStarted.store(true, ordering: .relaxed)
        report { $0.started(self, at: now) }
        return now
    }

    final func ended(_ start: ContextInstant, _ error: (any Error)? = nil) {
        let now = time.now
        report { $0.ended(self, started: start, at: now, error) }
    }

    /// The innermost observed job that runs on this thread.
    static var running: ObservedWork.Identity? {
        guard let owner = unsafe Frame.owner(noting: Frame.reported) else { return nil }
        // A frame is on the stack only while its job runs, and so is the report beside it.
        let report = unsafe owner.assumingMemoryBound(to: Frame.Report.self)
        return unsafe ObservedWork.Identity(view: report.pointee.view, job: report.pointee.job)
    }
}

/// An observed job that a context is given to run.
final class ObservedClosure: ObservedJob, @unchecked Sendable {
    // Unchecked because its superclass is; it adds a constant.
    private let closure: OwnedWork

    /// Adopts `closure`.
    @inline(__always)
    init(
        of view: borrowing ObservedView, from origin: consuming ObservedOrigin,
        in time: consuming JobTime, _ place: CodePlace, _ closure: UnmanagedWork
    ) {
        self.closure = OwnedWork(closure)
        super.init(of: view, from: consume origin, in: consume time, place)
    }

    override package func run() { run(answers: false) { closure.run() } }
}
