internal import CPlatform
internal import Dispatch

/// Who the calling thread is, for a wait to carry to the thread that runs what is waited for.
///
/// A thread is inside a view's job, a queue's block, a section, a read, a write or a hold. Each of
/// these asks one of three things, and the thread that runs a `sync` for another one answers with
/// what that one would say:
///
/// | asked                                   | by                                        |
/// |-----------------------------------------|-------------------------------------------|
/// | the frames on the thread's stack        | views, queues, pools, accesses            |
/// | the thread's record (`Threads.current`) | sections, coordinators, holds of a thread |
/// | the current task                        | holds of a task                           |
///
/// What belongs to the thread itself stays its own (`Threads.own`): its thread-local values, the
/// word that it sleeps on, its simulation.
@safe package struct Caller: @unchecked Sendable {
    // Unchecked: it is used while the caller waits, by one thread at a time, and the wait orders
    // the two.
    private let record: ThreadRecord
    private let own: ThreadRecord
    private let frames: UnsafeMutablePointer<ec_frame>?
    private let task: UnsafeRawPointer?
    /// The queue that the caller's thread runs a block of, which its key tells there only.
    private let queue: QueueMark?

    /// The caller.
    package static var current: Caller { Caller() }

    private init() {
        unsafe record = Threads.current
        unsafe own = Threads.own
        unsafe frames = ec_frame_top()
        unsafe task = Self.task
        queue = QueueMark.ofCaller
    }

    /// Whether the calling thread is the caller's own: then nothing needs to be carried.
    var isHere: Bool { unsafe Threads.own == own }

    /// The address of the task for which the calling thread acts, or nil outside of tasks.
    static var task: UnsafeRawPointer? {
        let own = unsafe ownTask
        guard let errand = unsafe ec_errand_current(), unsafe errand.pointee.own_task == own else {
            return unsafe own
        }
        return unsafe errand.pointee.task
    }

    private static var ownTask: UnsafeRawPointer? {
        unsafe withUnsafeCurrentTask { task in
            // A task reference is one word, an address; it is compared here and never followed.
            unsafe task.map { unsafe unsafeBitCast($0, to: UnsafeRawPointer.self) }
        }
    }

    /// Runs `body`, for which the caller waits, as a part of what the caller is doing.
    package func run(_ body: () -> Void) {
        // A base that runs its work on the caller: the caller's frames, record and task are here
        // already.
        if isHere { return body() }
        let here = unsafe Threads.own
        let before = unsafe (caller: ec_caller(), errand: ec_errand_current())
        // To a simulation, a thread of another world is not known by its record.
        if unsafe (here.pointee.simulation == nil) == (own.pointee.simulation == nil) {
            unsafe ec_caller_set(record)
        }
        var errand = unsafe ec_errand(task: task, own_task: Self.ownTask)
        unsafe withUnsafePointer(to: &errand) { errand in
            unsafe ec_errand_set(errand)
            withFrames(body)
        }
        unsafe ec_errand_set(before.errand)
        unsafe ec_caller_set(before.caller)
    }

    /// What comes of `body`, for which the caller waits, as a part of what the caller is doing.
    func result<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) -> Result<Value, Failure> {
        var result: Result<Value, Failure>?
        run { result = Result(catching: body) }
        return unsafe result.unsafelyUnwrapped
    }

    /// Runs `body` with the caller's frames before those of this thread.
    ///
    /// The caller's frames cannot end while their thread waits. They are not changed.
    private func withFrames(_ body: () -> Void) {
        unsafe Frame.enter(Frame.Owner(record), note: Int(bitPattern: frames), job: Frame.crossing) {
            guard let queue else { return body() }
            unsafe Frame.enter(queue.running, body)
        }
    }

    /// Runs the jobs of a context, in a task that it made for them: they are jobs and not parts of
    /// that task.
    static func outsideOfTask(_ body: () -> Void) {
        let before = unsafe ec_errand_current()
        var errand = unsafe ec_errand(task: nil, own_task: ownTask)
        unsafe withUnsafePointer(to: &errand) { errand in
            unsafe ec_errand_set(errand)
            body()
        }
        unsafe ec_errand_set(before)
    }
}

extension Caller {
    /// Runs `body` as one job of `owner`; for contexts outside of this library's sources.
    package static func runJob<Value, Failure: Error>(
        of owner: AnyObject, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe Frame.enterJobs(of: Frame.owner(owner), body)
    }
}
