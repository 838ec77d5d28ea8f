internal import CPlatform
internal import Synchronization

/// Records that the calling thread runs a job of an owner, for as long as a closure runs.
///
/// The frames of a thread form a list on its stack, so nested owners see each other and a frame
/// costs a few instructions. A frame exists exactly while its job runs, so `isCurrent` is never
/// falsely true (law 4).
package enum Frame {
    /// The address of the object to which a frame belongs; the object outlives the frame.
    typealias Owner = UnsafeRawPointer

    static func owner(_ object: AnyObject) -> Owner {
        unsafe Owner(Unmanaged.passUnretained(object).toOpaque())
    }

    /// Runs `body` as a part of the job that the caller runs.
    @inline(__always)
    static func enter<Result: ~Copyable, Failure: Error>(
        _ owner: Owner, note: Int = 0, job: UInt64 = noJob, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var frame = unsafe ec_frame(owner: owner, parent: ec_frame_top(), note: note, job: job)
        return try unsafe withUnsafeMutablePointer(to: &frame) {
            (pointer: UnsafeMutablePointer<ec_frame>) throws(Failure) -> Result in
            unsafe ec_frame_set_top(pointer)
            defer { unsafe ec_frame_set_top(pointer.pointee.parent) }
            return try body()
        }
    }

    /// Runs `body`, which runs one job after the other and calls `endJob` after each.
    @inline(__always)
    static func enterJobs<Result: ~Copyable, Failure: Error>(
        of owner: Owner, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result { try unsafe enter(owner, job: 0, body) }

    /// Ends the innermost frame's job: the next job holds nothing by the same number.
    @inline(__always)
    package static func endJob() { unsafe ec_frame_top().unsafelyUnwrapped.pointee.job = 0 }

    /// The number of the job that the caller runs, or nil outside of the library's jobs.
    static var job: UInt64? {
        guard
            let frame = unsafe first(
                ec_frame_top(), orLent: false, where: { unsafe $0.pointee.job != noJob })
        else { return nil }
        if unsafe frame.pointee.job == 0 { unsafe frame.pointee.job = newJob() }
        return unsafe frame.pointee.job
    }

    /// Whether the caller runs the job with this number, or a job inside it.
    static func runs(_ job: UInt64) -> Bool {
        unsafe first(ec_frame_top()) { unsafe $0.pointee.job == job } != nil
    }

    /// Marks a frame that is a part of a job.
    private static var noJob: UInt64 { .max }

    /// Marks a frame whose note points to the frames of a thread that waits for this one.
    ///
    /// They are only read, because their thread reads them itself while it waits.
    static var crossing: UInt64 { .max - 1 }

    /// The owner of a crossing: an address that no other owner has.
    static func crossingOwner(_ thread: ThreadRecord) -> Owner { unsafe Owner(thread) + 3 }

    /// Marks, in the note of a crossing, the frames of a thread that stays in a job for this one.
    /// They come after this thread's own frames, and their job is not this thread's.
    static var lent: Int { 1 }

    /// A number that no job has had. Relaxed: the numbers order nothing.
    static func newJob() -> UInt64 { lastJob.add(1, ordering: .relaxed).newValue }

    private static let lastJob = Atomic<UInt64>(0)

    /// The innermost frame of `owner` on this thread, or nil if none of its jobs runs here.
    static func find(_ owner: Owner) -> UnsafeMutablePointer<ec_frame>? {
        unsafe first(ec_frame_top()) { unsafe $0.pointee.owner == owner }
    }

    /// The frames in which the caller, or a thread that waits for it, runs a job of `owner`, as
    /// numbers.
    @inline(never)
    static func jobs(of owner: Owner) -> [UInt] {
        var jobs: [UInt] = []
        _ = unsafe first(ec_frame_top()) { frame in
            if unsafe frame.pointee.owner == owner && frame.pointee.note == 0 {
                jobs.append(UInt(bitPattern: frame))
            }
            return false
        }
        return jobs
    }

    /// The note in the innermost frame of `owner` on this thread, or nil if there is none.
    static func note(of owner: Owner) -> Int? { unsafe find(owner)?.pointee.note }

    /// Whether a job of `owner` runs on this thread. A frame with a note runs no job of its owner.
    static func isCurrent(_ owner: Owner) -> Bool {
        var next = unsafe ec_frame_top()
        while let frame = unsafe next {
            if unsafe frame.pointee.owner == owner && frame.pointee.note == 0 { return true }
            if unsafe frame.pointee.job == crossing { return unsafe runs(owner, from: frame) }
            unsafe next = frame.pointee.parent
        }
        return false
    }

    /// Whether a job of `owner` runs in one of these frames, or on a thread that waits for them.
    ///
    /// Any thread may call it, for frames of a thread that waits. So it does not read the numbers
    /// of the jobs: a thread that acts for the waiting one may be writing them. A crossing is known
    /// by its owner.
    @inline(never)
    static func runs(_ owner: Owner, from start: UnsafeMutablePointer<ec_frame>?) -> Bool {
        var next = unsafe start
        while let frame = unsafe next {
            if unsafe frame.pointee.owner == owner && frame.pointee.note == 0 { return true }
            if unsafe UInt(bitPattern: frame.pointee.owner) & 3 == 3 {
                let others = unsafe UnsafeMutablePointer<ec_frame>(
                    bitPattern: frame.pointee.note & ~lent)
                if unsafe runs(owner, from: others) { return true }
            }
            unsafe next = frame.pointee.parent
        }
        return false
    }

    /// The owner of the innermost frame with this note, or nil.
    static func owner(noting note: Int) -> Owner? {
        unsafe first(ec_frame_top()) { unsafe $0.pointee.note == note }?.pointee.owner
    }

    /// The innermost frame, from `start` on, for which `isWanted` returns true.
    private static func first(
        _ start: UnsafeMutablePointer<ec_frame>?, orLent: Bool = true,
        where isWanted: (UnsafeMutablePointer<ec_frame>) -> Bool
    ) -> UnsafeMutablePointer<ec_frame>? {
        var next = unsafe start
        while let frame = unsafe next {
            if unsafe frame.pointee.job == crossing {
                let note = unsafe frame.pointee.note
                let others = unsafe UnsafeMutablePointer<ec_frame>(bitPattern: note & ~lent)
                if note & lent != 0 {
                    return unsafe first(frame.pointee.parent, orLent: orLent, where: isWanted)
                        ?? (orLent ? first(others, where: isWanted) : nil)
                }
                if let found = unsafe first(others, orLent: orLent, where: isWanted) {
                    return unsafe found
                }
            } else if unsafe isWanted(frame) {
                return unsafe frame
            }
            unsafe next = frame.pointee.parent
        }
        return nil
    }

    /// What the frame of an observed job points to, for as long as the job runs.
    struct Report {
        /// The numbers of the view and of the job.
        let view: UInt64
        let job: UInt64
        /// The error that the job's body threw, if its caller gets it.
        var error: (any Error)?
    }

    /// Marks the frames of observed jobs; `Drainer` has the notes 1, 2, 4 and 5.
    static let reported = 3

    /// Notes how the body of the job that the caller runs has ended, for the observers of that job.
    ///
    /// Of jobs inside each other the outermost notes last, and decides. A view with its own queue
    /// runs many jobs in one of its base: the frames below its own are not those of this job.
    static func noteEnd(_ error: (any Error)?) {
        var next = unsafe ec_frame_top()
        while let frame = unsafe next, unsafe frame.pointee.job == noJob {
            if unsafe frame.pointee.note == reported {
                // Made from a mutable pointer to a `Report` on this thread's stack.
                let report = unsafe UnsafeMutableRawPointer(mutating: frame.pointee.owner)
                unsafe report.assumingMemoryBound(to: Report.self).pointee.error = error
            }
            unsafe next = frame.pointee.parent
        }
    }
}
