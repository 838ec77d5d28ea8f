internal import CSimulation

/// A Dispatch queue. In a schedule it holds what the program has set, and no jobs.
///
/// Its users keep it alive.
@safe struct SystemQueue {
    private let pointer: UnsafeRawPointer

    init(_ pointer: UnsafeRawPointer) { unsafe self.pointer = pointer }

    static var main: SystemQueue { unsafe SystemQueue(ecs_main_queue()) }

    var word: Word { unsafe Word(pointer) }
    var isSerial: Bool { unsafe ecs_queue_is_serial(pointer) }
    var isMain: Bool { unsafe ecs_queue_is_main(pointer) }
    /// Whether it is one of the system's own concurrent queues.
    var isGlobal: Bool { unsafe ecs_queue_is_global(pointer) }
    var isSuspended: Bool { unsafe ecs_queue_is_suspended(pointer) }

    /// The queue in which its jobs run; nil for one of the system's own concurrent queues.
    var target: SystemQueue? { unsafe ecs_queue_target(pointer).map { unsafe SystemQueue($0) } }

    var name: String {
        let label = unsafe String(cString: ecs_queue_label(pointer))
        // The label of an OperationQueue's own ends with an address, another one in each schedule.
        let name = label.firstRange(of: " 0x").map { label[..<$0.lowerBound] } ?? label[...]
        return name.isEmpty ? "a queue" : String(name)
    }

    /// Keeps the memory of the queue, without a reference of the program's.
    func keep() { unsafe ecs_queue_keep(pointer) }
    func drop() { unsafe ecs_queue_drop(pointer) }

    /// Adds a reference of the program's, which already has one.
    func retain() { unsafe ecs_dispatch_retain(pointer) }

    /// The object itself, for a caller that holds a job of the queue.
    var object: UnsafeRawPointer { unsafe pointer }
}

/// A job that the program submitted to a Dispatch queue.
@safe final class SystemJob {
    private let job: ecs_dispatch_job
    private var isKept: Bool

    /// A job that runs later is kept until it has run, or until the schedule drops it.
    init(_ job: ecs_dispatch_job, isKept: Bool) {
        unsafe self.job = job
        self.isKept = isKept
    }

    deinit { if isKept { unsafe ecs_discard(job) } }

    var queue: SystemQueue { unsafe SystemQueue(job.queue) }
    var isBarrier: Bool { unsafe job.is_barrier }
    var isCancelled: Bool { unsafe ecs_is_cancelled(job) }

    /// Runs the job, once.
    func run() {
        guard isKept else { return unsafe job.function(job.context) }
        isKept = false
        unsafe ecs_perform(job)
    }
}
