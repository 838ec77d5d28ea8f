#if (os(Linux) || os(Android)) && compiler(>=6.3)
internal import CSimulation
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

/// The executors of the process: they pass the jobs of a simulated thread to its simulation, and
/// all others to the platform's executors.
enum ProcessExecutors {
    static func install() { _createExecutors(factory: Factory.self) }

    static var areKnown: Bool { true }

    /// Why a search would not see what tasks do; nil if it does.
    static var obstacle: String? {
        if ecs_takes_switches() { return nil }
        return "the program has its own copy of the Swift runtime: link it without "
            + "--static-swift-stdlib"
    }

    private struct Factory: ExecutorFactory {
        static let main = SimulatingMainExecutor()
        static let shared = SimulatingExecutor()
        static var mainExecutor: any MainExecutor { main }
        static var defaultExecutor: any TaskExecutor { shared }
    }
}

/// The executor of tasks without isolation, which also sleep and yield on it.
private final class SimulatingExecutor: TaskExecutor, SchedulingExecutor {
    private let platform = PlatformExecutorFactory.defaultExecutor

    func enqueue(_ job: consuming ExecutorJob) {
        guard RuntimeHooks.isSimulating else {
            if let job = RuntimeHooks.unlessLeft(job) { platform.enqueue(job) }
            return
        }
        RuntimeHooks.take(job)
    }

    func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
        guard RuntimeHooks.isSimulating, let delay = delay as? Duration else {
            guard let platform = platform as? any SchedulingExecutor else {
                fatalError("The platform's executor cannot delay a job.")
            }
            return platform.enqueue(job, after: delay, tolerance: tolerance, clock: clock)
        }
        RuntimeHooks.take(job, after: delay)
    }
}

/// The executor of the main actor.
private final class SimulatingMainExecutor: MainExecutor {
    private let platform = PlatformExecutorFactory.mainExecutor

    func enqueue(_ job: consuming ExecutorJob) {
        guard RuntimeHooks.isSimulating else {
            if let job = RuntimeHooks.unlessLeft(job) { platform.enqueue(job) }
            return
        }
        RuntimeHooks.take(job, isForMain: true)
    }

    func run() throws { try platform.run() }
    func runUntil(_ condition: () -> Bool) throws { try platform.runUntil(condition) }
    func stop() { platform.stop() }
    func checkIsolated() { platform.checkIsolated() }
    func isIsolatingCurrentContext() -> Bool? {
        HostThread.current?.hasMainActor == true ? true : platform.isIsolatingCurrentContext()
    }
}
#endif
