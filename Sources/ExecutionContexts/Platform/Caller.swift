internal import CPlatform
internal import Dispatch

/// The identity of a caller, which a wait carries to the thread that runs what it waits for.
///
/// A thread may be inside jobs, blocks of dispatch queues, locks and holds. Each of these reads one
/// of three things, which a thread that runs a `sync` for another thread takes from that thread.
///
/// | read                                    | by                          |
/// |-----------------------------------------|-----------------------------|
/// | the frames on the thread's stack        | the owners of the frames    |
/// | the thread's record (`Threads.current`) | locks, holds of a thread    |
/// | the current task                        | holds of a task             |
///
/// What belongs to the thread itself stays its own (`Threads.own`): its thread-local values, the
/// word that it parks on, its simulation.
@safe package struct Caller: @unchecked Sendable {
    // Unchecked: it is used while the caller waits, by one thread at a time, and the wait orders
    // the two threads.
    private let record: ThreadRecord
    private let own: ThreadRecord
    private let frames: UnsafeMutablePointer<ec_frame>?
    private let task: UnsafeRawPointer?
    /// The queue whose block the caller's thread runs; only that thread can read the queue's key.
    private let queue: QueueMark?

    /// The identity of the calling thread.
    package static var current: Caller { Caller() }

    private init() {
        unsafe record = Threads.current
        unsafe own = Threads.own
        unsafe frames = ec_frame_top()
        unsafe task = Self.task
        queue = QueueMark.ofCaller
    }

    /// Whether the calling thread is the caller's own, so that nothing needs to be carried.
    var isHere: Bool { unsafe Threads.own == own }

    /// The address of the task for which the calling thread acts, or nil outside of tasks.
    package static var task: UnsafeRawPointer? {
        let own = unsafe ownTask
        guard let current = unsafe ec_caller_task_current(), unsafe current.pointee.own_task == own
        else {
            return unsafe own
        }
        return unsafe current.pointee.task
    }

    // An address, which is compared here and never dereferenced. `withUnsafeCurrentTask` would copy
    // a reference to the task, whose size it looks up: 350 instructions.
    private static var ownTask: UnsafeRawPointer? { unsafe ec_task_current() }

    /// Runs `body`, for which the caller waits, as a part of the caller's job.
    package func run(_ body: () -> Void) {
        // The caller's frames, record and task are already here.
        if isHere { return body() }
        let here = unsafe Threads.own
        let before = unsafe ec_caller()
        // If only one of the two threads is simulated, the simulation does not know the other one's
        // record.
        if unsafe (here.pointee.simulation == nil) == (own.pointee.simulation == nil) {
            unsafe ec_caller_set(record)
        }
        unsafe Self.act(for: task) { withFrames(body) }
        unsafe ec_caller_set(before)
    }

    /// Runs `body` on the calling thread, for which this caller waits in a job.
    ///
    /// The calling thread keeps its own task and job, and is also inside of all that the caller is.
    func surround(_ body: () -> Void) { withFrames(areLent: true, body) }

    /// The result of `body`, for which the caller waits, run as a part of the caller's job.
    func result<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) -> Result<Value, Failure> {
        var result: Result<Value, Failure>?
        run { result = Result(catching: body) }
        return unsafe result.unsafelyUnwrapped
    }

    /// Runs `body` with the caller's frames before the frames of this thread, or, if they are lent,
    /// after them. They cannot end while the caller's thread waits, and are not changed.
    private func withFrames(areLent: Bool = false, _ body: () -> Void) {
        let note = unsafe Int(bitPattern: frames) | (areLent ? Frame.lent : 0)
        unsafe Frame.enter(Frame.crossingOwner(record), note: note, job: Frame.crossing) {
            guard let queue else { return body() }
            unsafe Frame.enter(queue.running, body)
        }
    }

    /// Runs jobs in a task that was made for them: they are not parts of that task.
    static func outsideOfTask(_ body: () -> Void) { unsafe act(for: nil, body) }

    /// Runs `body` with `task` as the task for which the calling thread acts.
    private static func act(for task: UnsafeRawPointer?, _ body: () -> Void) {
        let before = unsafe ec_caller_task_current()
        var callerTask = unsafe ec_caller_task(task: task, own_task: ownTask)
        unsafe withUnsafePointer(to: &callerTask) { callerTask in
            unsafe ec_caller_task_set(callerTask)
            body()
        }
        unsafe ec_caller_task_set(before)
    }

    /// Runs `body` as one job of `owner`; for owners outside of this library's sources.
    package static func runJob<Value, Failure: Error>(
        of owner: AnyObject, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe Frame.enterJobs(of: Frame.owner(owner), body)
    }
}
