internal import CSimulation
internal import ExecutionContexts

/// The hooks through which the jobs of Swift's tasks and actors enter a simulation.
enum RuntimeHooks {
    /// Installs the hooks of the runtime, once in a process.
    static let install: Void = {
        ProcessExecutors.install()
        ecs_fix_order_of_tables()
        unsafe ecs_install(
            ecs_simulator(
                take: { simulation, job, executor, delay in
                    require(
                        ProcessExecutors.areKnown,
                        "On Linux, simulating tasks requires Swift 6.3 or later (law 33). Threads "
                            + "and contexts are simulated with this version, too.")
                    unsafe HostThread.of(simulation).take(TaskJob(job, executor), after: delay)
                },
                now: { unsafe HostThread.of($0).clockReading },
                run_on_new_thread: { simulation, function, context, mayPause in
                    let words = unsafe (function, context)
                    // A closure of Swift is these two words; the cast retains it.
                    let body = unsafe unsafeBitCast(words, to: (@Sendable () -> Void).self)
                    return unsafe HostThread.of(simulation).detach(body, mayPause: mayPause)
                },
                sleep: { unsafe HostThread.of($0).pause(for: $1) },
                fill: { simulation, bytes, count in
                    unsafe HostThread.of(simulation).fill(
                        UnsafeMutableRawBufferPointer(start: bytes, count: count))
                },
                did_miss: { unsafe HostThread.of($0).didMissChange() },
                will_hand_over: { unsafe HostThread.of($0).willHandOver() },
                did_create: { simulation, task, context, callers, count in
                    let task = unsafe TaskJob(
                        UnsafeMutableRawPointer(mutating: task), ecs_executor())
                    unsafe HostThread.of(simulation).didCreate(
                        task, beginningWith: UInt(bitPattern: context),
                        by: UnsafeBufferPointer(start: callers, count: count))
                },
                did_meet: { unsafe HostThread.of($0).didMeet($1) },
                will_act: { simulation, act, task in
                    let task = unsafe task.map {
                        unsafe TaskJob(UnsafeMutableRawPointer(mutating: $0), ecs_executor())
                    }
                    unsafe HostThread.of(simulation).willAct(act, on: task)
                },
                did_act: { unsafe HostThread.of($0).didAct($1, $2) },
                did_make_continuation: { unsafe HostThread.of($0).didMakeContinuation(Word($1)) },
                will_resume: { unsafe HostThread.of($0).willResume(Word($1)) },
                waits: { unsafe HostThread.of($0).waitsForConditions },
                wait: { unsafe HostThread.of($0).wait(for: SystemLock($1), until: $2) },
                did_signal: { unsafe HostThread.of($0).didSignal(SystemLock($1), toAll: $2) },
                will_lock: { unsafe HostThread.of($0).willLock(SystemLock($1), waits: $2) },
                did_lock: { unsafe HostThread.of($0).didLock(SystemLock($1)) },
                did_unlock: { unsafe HostThread.of($0).didUnlock(SystemLock($1)) },
                will_lock_unseen: { unsafe HostThread.of($0).willLockUnseen(SystemLock($1)) },
                did_free_lock: { unsafe HostThread.of($0).didFree(SystemLock($1)) },
                did_make: { simulation, counter, value, isForSystem in
                    unsafe HostThread.of(simulation).didMake(
                        SystemCounter(counter), value, isForSystem: isForSystem)
                },
                will_use: { unsafe HostThread.of($0).willUse(SystemCounter($1)) },
                did_use: { unsafe HostThread.of($0).didUse(SystemCounter($1), $2) },
                wait_for: { unsafe HostThread.of($0).wait(for: SystemCounter($1), until: $2) },
                did_wait_outside: {
                    unsafe HostThread.of($0).didWaitOutside(
                        for: SystemCounter($1), until: $2, wasTaken: $3)
                },
                will_give_away: {
                    unsafe HostThread.of($0).willGiveAway(to: String(cString: $1))
                },
                did_make_queue: {
                    unsafe HostThread.of($0).didMake(SystemQueue($1), isForSystem: $2)
                },
                takes_jobs: { unsafe HostThread.of($0).takesJobs },
                submit: { unsafe HostThread.of($0).submit(SystemJob($1, isKept: true), at: $2) },
                notify: {
                    unsafe HostThread.of($0).notify(SystemCounter($1), SystemJob($2, isKept: true))
                },
                run_in_queue: {
                    unsafe HostThread.of($0).runInQueue(SystemJob($1, isKept: false))
                },
                apply: { simulation, count, queue, context, function in
                    let queue = unsafe queue.map { unsafe SystemQueue($0) }
                    unsafe HostThread.of(simulation).apply(count, in: queue) {
                        unsafe function(context, $0)
                    }
                },
                will_touch: { unsafe HostThread.of($0).willTouchDispatch(Word($1)) },
                did_change_queue: { unsafe HostThread.of($0).didChangeQueue(Word($1)) },
                queue_at: { simulation, depth, isExclusive in
                    guard let frame = unsafe HostThread.of(simulation).queue(at: depth) else {
                        return nil
                    }
                    unsafe isExclusive.pointee = frame.isExclusive
                    return unsafe frame.queue.object
                },
                did_make_item: { unsafe HostThread.of($0).didMake(item: SystemCounter($1)) },
                will_wait_for_item: {
                    unsafe HostThread.of($0).willWait(forItem: SystemCounter($1))
                },
                did_run_item: { unsafe HostThread.of($0).didRun(item: SystemCounter($1)) },
                did_read: { unsafe HostThread.of($0).didReadDispatch($1) },
                did_add: { unsafe HostThread.of($0).didAdd($2, to: $1, giving: $3) },
                did_make_outside: { unsafe SharedCounters.forget(SystemCounter($0).word) },
                will_use_outside: { unsafe SharedCounters.willUse(SystemCounter($0).word, $1) },
                did_start: { simulation, name in
                    unsafe HostThread.of(simulation).didStart(
                        name.map { unsafe String(cString: $0) })
                },
                did_leave: { search, job in
                    let job = unsafe UnsafeMutableRawPointer(mutating: job)
                    unsafe RunningSearches.taskDidLeave(search, TaskJob(job, ecs_executor()))
                },
                will_trap: { unsafe HostThread.of($0).reportTrap() }),
            // A reference to an executor is two words, as the runtime's C interface declares.
            unsafe unsafeBitCast(
                SuspendingExecutor.shared.asUnownedSerialExecutor(), to: ecs_executor.self))
        // Where tasks are not simulated, the first task traps.
        if ProcessExecutors.areKnown {
            require(
                unsafe TaskLayout.isKnown(),
                "The simulation does not know this Swift runtime's layout of tasks (law 33): update "
                    + "ExecutionContexts, or simulate with a runtime that Docs/Simulation.md names."
            )
        }
        ecs_watch_traps()
    }()

    /// Whether the calling thread belongs to a simulation.
    static var isSimulating: Bool { unsafe ecs_current() != nil }

    /// The job, on a thread outside of simulations; nil if it belongs to a simulation, which is
    /// then notified that it has left.
    static func unlessLeft(_ job: consuming ExecutorJob) -> ExecutorJob? {
        let job = UnownedJob(job)
        // A job is a pointer, as in the runtime's own interface.
        let pointer = unsafe unsafeBitCast(job, to: UnsafeMutableRawPointer.self)
        return unsafe ecs_did_leave(pointer) ? nil : ExecutorJob(job)
    }

    /// Passes a job to the simulation of the calling thread.
    static func take(
        _ job: consuming ExecutorJob, isForMain: Bool = false, after delay: Duration = .zero
    ) {
        guard let host = HostThread.current else { return }
        // A job is a pointer, as in the runtime's own interface.
        let pointer = unsafe unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self)
        let executor = isForMain ? unsafe TaskJob.main : unsafe ecs_executor()
        unsafe host.take(
            TaskJob(pointer, executor),
            after: ContextInstant(nanoseconds: 0).advanced(by: delay).nanoseconds)
    }
}

/// The executor on which the runtime suspends the tasks of a simulation.
private final class SuspendingExecutor: SerialExecutor {
    static let shared = SuspendingExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        // A job is a pointer, as in the runtime's own interface.
        unsafe ecs_take(unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self))
    }
}

/// A job of the concurrency runtime: the next part of a task, up to its next suspension.
@safe struct TaskJob: @unchecked Sendable {
    // Unchecked: the runtime gives each job to one thread, to be run once.
    private let pointer: UnsafeMutableRawPointer
    private let executor: ecs_executor

    init(_ pointer: UnsafeMutableRawPointer, _ executor: ecs_executor) {
        unsafe (self.pointer, self.executor) = (pointer, executor)
    }

    /// The actor or executor that the job needs exclusively; zero for none.
    var isolation: UInt { unsafe UInt(bitPattern: executor.identity) }

    /// The number of the newest task of the process.
    static var newestNumber: UInt32 {
        let task = Task.detached {}
        // A task is one reference, which `task` retains.
        return unsafe ecs_task_number(unsafeBitCast(task, to: UnsafeRawPointer.self))
    }

    var priority: Int { Int(unsafe ecs_priority(pointer)) }

    /// Whether the job is the next part of a task; other jobs run once.
    var isTask: Bool { unsafe ecs_is_task(pointer) }

    /// Whether it is the task of an `async let`, whose memory is its parent's.
    var isAsyncLet: Bool { unsafe ecs_is_async_let(pointer) }

    /// The number of the task, or of the task that the job resumes, as with `Task.yield`; zero for
    /// other jobs.
    var number: UInt32 { unsafe ecs_task_number(pointer) }

    /// The record of that task, counted from one; zero if it has none.
    var record: Int { Int(unsafe ecs_record(pointer)) }

    /// The search that has begun the task, or zero; for a task.
    var search: UInt32 { unsafe ecs_search(pointer) }

    /// Enqueues the job as a thread outside of simulations does.
    func enqueueOutside() { unsafe ecs_enqueue_outside(pointer, executor) }

    /// Runs the job on the calling thread.
    func run(isFirst: Bool) {
        if isFirst {
            unsafe ecs_run_first(pointer, executor)
        } else {
            unsafe ecs_run(pointer, executor)
        }
    }

    /// The name of the actor that the job holds exclusively.
    var actorName: String? {
        guard isolation != 0 else { return nil }
        if unsafe isolation == UInt(bitPattern: Self.main.identity) { return "MainActor" }
        // The job keeps its actor alive.
        let actor = unsafe Unmanaged<AnyObject>.fromOpaque(executor.identity!).takeUnretainedValue()
        return String(describing: type(of: actor))
    }

    /// The value of `isolation` for the main actor.
    static var mainActor: UInt { unsafe UInt(bitPattern: main.identity) }

    fileprivate static var main: ecs_executor {
        // A reference to an executor is two words, as the runtime's C interface declares.
        unsafe unsafeBitCast(MainActor.sharedUnownedExecutor, to: ecs_executor.self)
    }

    /// Addresses of code at which the task resumes, or begins.
    var locations: [UInt] {
        unsafe [UInt](unsafeUninitializedCapacity: 24) { buffer, count in
            count = unsafe ecs_locations(pointer, buffer.baseAddress!, buffer.count)
        }
    }

    /// Whether the task is cancelled.
    var isCancelled: Bool { unsafe ecs_task_is_cancelled(pointer) }

    /// The type of the error that the task, which began with this context, has ended with.
    func errorThrown(since firstContext: UInt) -> String? {
        guard
            let type = unsafe ecs_thrown_by(pointer, UnsafeRawPointer(bitPattern: firstContext))
        else { return nil }
        // A type is a pointer to what the runtime knows of it; the task keeps the error.
        return unsafe "\(unsafeBitCast(type, to: Any.Type.self))"
    }

    /// What the task, which is suspended, waits for.
    var awaited: Awaited {
        let awaited = unsafe ecs_awaited_by(pointer)
        return switch awaited.kind {
        case ecs_awaits_task: .task(awaited.task)
        case ecs_awaits_continuation: .continuation
        case ecs_awaits_group: .children
        default: .something
        }
    }

    /// Sets the task's record, and the search that it belongs to if another thread resumes it; zero
    /// for none yet.
    func setOwner(_ search: UInt, record: Int) {
        unsafe ecs_set_owner(pointer, UInt32(truncatingIfNeeded: search), UInt32(record))
    }

    /// Keeps the task alive, to check after a job whether it has ended.
    func retain() { unsafe ecs_retain(pointer) }
    func release() { unsafe ecs_release(pointer) }
    var hasEnded: Bool { unsafe ecs_has_ended(pointer) }
}

/// A lock of the system, which a job may hold while it is paused; or a condition of the system.
///
/// It is alive while a thread waits for it, and is queried only then.
@safe struct SystemLock {
    private let lock: ecs_lock

    init(_ lock: ecs_lock) { unsafe self.lock = lock }

    /// The lock of a `Mutex`, whose word has the number of its owner.
    init(mutex: UnsafePointer<UInt32>) {
        unsafe lock = ecs_lock(kind: ecs_mutex, word: mutex, holder: mutex)
    }

    var isTaken: Bool { unsafe ecs_is_taken(lock) }

    /// Whether it is a `Mutex`, which traps if its owner takes it again.
    var trapsOnReentry: Bool { unsafe lock.word == lock.holder }

    var kind: ecs_lock_kind { unsafe lock.kind }

    var isCondition: Bool { kind == ecs_condition || isExpectation }

    /// Whether it stands for the expectations of XCTest for which a thread waits.
    var isExpectation: Bool { kind == ecs_expectation }

    /// What identifies it while it is alive.
    var word: Word { unsafe Word(lock.word) }

    /// Releases it, as its thread, which has this number, never continues.
    func giveBack(from owner: UInt32) { unsafe ecs_give_back_lock(lock, owner) }

    /// The system's number of the thread that holds it.
    var holder: UInt32 { unsafe ecs_holder(lock) }
}
