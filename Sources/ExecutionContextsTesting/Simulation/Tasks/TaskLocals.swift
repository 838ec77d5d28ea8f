internal import CSimulation

/// Starts the first task of each schedule with the task-local values of the task that searches.
///
/// 1. The caller starts a separate task, which inherits the values, and suspends.
/// 2. Each schedule resumes it on a simulated thread. It starts the program's first task, which
///    also inherits the values, and suspends again.
/// 3. The caller ends it after the search.
final class TaskLocals: Sendable {
    private typealias Continuation = CheckedContinuation<(@Sendable () -> Void)?, Never>

    private let state = Locked<(next: Continuation?, task: StarterTask?)>((nil, nil))

    /// Inherits the values of the calling task.
    init() async {
        await start()
        // The task resumes its caller before it has suspended itself.
        while state.withLock({ $0.task?.isRunning == true }) { await Task.yield() }
    }

    private func start() async {
        await withCheckedContinuation { isSuspended in
            Task {
                noteNumber()
                var isFirst = true
                while let start = await withCheckedContinuation({ (next: Continuation) in
                    state.withLock { $0.next = next }
                    if isFirst { isSuspended.resume() }
                    isFirst = false
                }) { start() }
            }
        }
    }

    /// The number of the task, which is not a task of the program.
    var number: UInt32 { state.withLock { $0.task?.number ?? 0 } }

    /// Makes the task call `start`, which starts the program's first task.
    func perform(_ start: @escaping @Sendable () -> Void) { takeNext()?.resume(returning: start) }

    func end() { takeNext()?.resume(returning: nil) }

    private func takeNext() -> Continuation? { state.withLock { $0.next.take() } }

    private func noteNumber() {
        unsafe withUnsafeCurrentTask { task in
            guard let task = unsafe task else { return }
            // A task reference is one word, an address.
            let pointer = unsafe unsafeBitCast(task, to: UnsafeMutableRawPointer.self)
            state.withLock { $0.task = unsafe StarterTask(pointer) }
        }
    }
}

/// The task that starts the first task of each schedule; it lives until the search has ended it.
@safe private struct StarterTask: @unchecked Sendable {
    // Unchecked: only the state of the task is read.
    private let task: UnsafeMutableRawPointer

    init(_ task: UnsafeMutableRawPointer) { unsafe self.task = task }

    var number: UInt32 { unsafe ecs_task_number(task) }
    var isRunning: Bool { unsafe ecs_is_running(task) }
}
