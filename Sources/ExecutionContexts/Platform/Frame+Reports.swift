import CPlatform

extension Frame {
    /// What the frame of an observed job points to, for as long as the job runs.
    struct Report {
        /// The numbers of the view and of the job.
        let view: UInt64
        let job: UInt64
        /// The error that the job's body threw, if its caller gets it.
        var error: (any Error)?
    }

    /// Marks the frames of observed jobs; `DrainContinuation` has the notes 1 and 2.
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
