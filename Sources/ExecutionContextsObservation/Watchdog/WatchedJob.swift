internal import ExecutionContexts

/// A watched job, and its place among those of its watch.
class WatchedJob: @unchecked Sendable {
    // Unchecked, also at run time: accessed under the monitor's lock only.
    @exclusivity(unchecked) fileprivate final var place = Place()
    final let number: UInt64
    final let source: JobSource
    private let watch: StallWatch

    enum Phase { case waiting, running, over }

    /// Where the job is. A listed job exists: its own `deinit` takes it out before its memory is
    /// freed, and a job that is never released stays allocated.
    @safe fileprivate struct Place {
        var phase = Phase.waiting
        /// Since when it is listed.
        var since = ContextInstant.never
        /// Whether it is in a list: until it is over.
        var isListed = false
        /// Whether it is not reported (again) while it is in this list.
        var isSettled = false
        var previous: Unmanaged<WatchedJob>?
        var next: Unmanaged<WatchedJob>?
    }

    /// The caller must call `didSubmit`, which in here would retain this object.
    init(_ watch: consuming StallWatch, _ source: consuming JobSource) {
        number = watch.next()
        self.watch = consume watch
        self.source = consume source
    }

    final func didSubmit() { watch.didSubmit(self) }

    // Without an end, its context dropped it. Read without the lock: no other thread writes it any
    // more.
    deinit { if unsafe place.phase != .over { watch.didEnd(self) } }

    @inline(__always)
    final func run<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        started()
        defer { ended() }
        return try body()
    }

    final func started() { watch.didStart(self) }

    final func ended() { watch.didEnd(self) }

    /// Marks the start; false if it is not the first.
    final func begin() -> Bool {
        guard unsafe place.phase == .waiting else { return false }
        unsafe place.phase = .running
        return true
    }

    /// Marks the end, and returns the phase that it ends.
    final func end() -> Phase {
        defer { unsafe place.phase = .over }
        return unsafe place.phase
    }
}

/// A watched job that is submitted to a context.
final class WatchedClosure: WatchedJob, @unchecked Sendable {
    // Unchecked because its superclass is; it adds a constant.
    private let closure: Work

    init(
        _ watch: consuming StallWatch, _ source: consuming JobSource,
        _ closure: consuming @escaping Work
    ) {
        self.closure = consume closure
        super.init(consume watch, consume source)
    }

    func run() { run(closure) }
}

/// Jobs in the order of their arrival; any of them can be removed in constant time. Settled jobs,
/// which are not reported, precede the others.
///
/// It never retains a job. A job whose last reference is released waits in its `deinit` for the
/// lock under which this list is used, so listed jobs exist; but such a job must not be retained.
@safe struct WatchedJobList {
    /// A job: its number, its source, and when it was added.
    typealias Entry = (since: ContextInstant, number: UInt64, source: JobSource)

    private var head: Unmanaged<WatchedJob>?
    private var tail: Unmanaged<WatchedJob>?
    /// The first job that is not settled.
    private var headUnsettled: Unmanaged<WatchedJob>?
    private(set) var count = 0
    private(set) var settledCount = 0

    var isEmpty: Bool { count == 0 }
    var isAllSettled: Bool { count == settledCount }

    /// The job that has been listed for the longest time.
    var first: Entry? { unsafe entry(head) }

    /// The first job that is not settled.
    var firstUnsettled: Entry? { unsafe entry(headUnsettled) }

    private func entry(_ place: Unmanaged<WatchedJob>?) -> Entry? {
        unsafe place?._withUnsafeGuaranteedRef { unsafe ($0.place.since, $0.number, $0.source) }
    }

    mutating func append(_ job: WatchedJob, _ now: ContextInstant) {
        let place = unsafe Unmanaged.passUnretained(job)
        unsafe job.place.since = now
        unsafe job.place.isListed = true
        unsafe job.place.previous = tail
        if let last = unsafe tail {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.place.next = place }
        } else {
            unsafe head = place
        }
        unsafe tail = place
        if unsafe headUnsettled == nil { unsafe headUnsettled = place }
        count += 1
    }

    /// Settles the first unsettled job.
    mutating func settleFirst() {
        guard let job = unsafe headUnsettled else { return }
        settledCount += 1
        unsafe job._withUnsafeGuaranteedRef {
            unsafe $0.place.isSettled = true
            unsafe headUnsettled = $0.place.next
        }
    }

    /// Removes `job`, if it is in a list.
    mutating func remove(_ job: WatchedJob) {
        guard unsafe job.place.isListed else { return }
        let (previous, next) = unsafe (job.place.previous, job.place.next)
        if unsafe job.place.isSettled {
            settledCount -= 1
        } else if unsafe headUnsettled?.toOpaque() == Unmanaged.passUnretained(job).toOpaque() {
            unsafe headUnsettled = next
        }
        count -= 1
        unsafe job.place.isListed = false
        unsafe job.place.isSettled = false
        unsafe job.place.previous = nil
        unsafe job.place.next = nil
        if let previous = unsafe previous {
            unsafe previous._withUnsafeGuaranteedRef { unsafe $0.place.next = next }
        } else {
            unsafe head = next
        }
        if let next = unsafe next {
            unsafe next._withUnsafeGuaranteedRef { unsafe $0.place.previous = previous }
        } else {
            unsafe tail = previous
        }
    }
}
