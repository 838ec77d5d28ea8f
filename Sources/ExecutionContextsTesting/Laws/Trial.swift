internal import Dispatch
internal import Foundation

/// One examination of one context: it waits, runs closures on several threads and collects the
/// breaches.
///
/// Everything runs on separate threads, so that a check may block: the threads of the system's
/// pools belong to the context under examination.
final class Trial: Sendable {
    private let name: String
    private let patience: Duration
    private let driver: Driver?
    private let found = Locked<[LawBreach]>([])
    /// The suffix of every report.
    private let phase = Locked("")

    init(of name: String, patience: Duration, drive: (@Sendable () -> Void)?) {
        self.name = name
        self.patience = patience
        driver = drive.map(Driver.init)
    }

    deinit { driver?.stop() }

    var breaches: [LawBreach] { found.withLock { $0 } }

    func report(_ law: Int, _ happened: String, _ remedy: String) {
        let breach = LawBreach(
            law: law, context: name, happened: happened + phase.withLock { $0 }, remedy: remedy)
        found.withLock { if !$0.contains(breach) { $0.append(breach) } }
    }

    /// Makes every later report say that it happened after the shutdown.
    func hasShutDown() { phase.withLock { $0 = " after the shutdown" } }

    /// Waits until `signal` was signalled `count` times; returns false if `patience` ends first.
    func wait(for signal: Signal, count: Int = 1) -> Bool {
        driver?.begin()
        defer { driver?.end() }
        return signal.wait(count: count, atMost: patience)
    }

    /// Runs `body` on a separate thread and awaits its end, without blocking the caller's thread.
    func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            startThread {
                body()
                continuation.resume()
            }
        }
    }

    /// Runs a check on a separate thread, so that a context that never returns blocks only that
    /// thread.
    func attempt(_ law: Int, _ check: @escaping @Sendable () -> Void) {
        let end = Signal()
        startThread {
            check()
            end.happen()
        }
        // Each wait of the check has its own patience; only a call into the context can take
        // longer.
        if !end.wait(count: 1, atMost: patience * 4) {
            report(
                9, "did not return from a call, while law \(law) was checked",
                "Return when the work is queued, and call nothing while holding a lock.")
        }
    }

    /// Runs `body` on several threads at a time and waits for all; returns false if one does not
    /// return in time.
    func fromThreads(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) -> Bool {
        let end = Signal()
        for index in 0..<count {
            startThread {
                body(index)
                end.happen()
            }
        }
        return wait(for: end, count: count)
    }

    /// Occupies a context with a job that ends when the hold is released; returns nil if it never
    /// starts.
    ///
    /// - Parameter submit: submits the job, on a separate thread, because an inline context blocks
    ///   that thread until the job ends.
    func hold(_ submit: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void)
        -> Hold?
    {
        let hold = Hold()
        startThread { submit { hold.stay() } }
        guard wait(for: hold.started) else {
            hold.release()
            report(
                1, "has not yet run a submitted job",
                "Run each closure passed to execute.")
            return nil
        }
        return hold
    }

    /// Waits as long as fresh threads need to start, so that anything that could start now has
    /// started.
    ///
    /// The absence of an event cannot be awaited. A measure by other threads, rather than by the
    /// clock, is short on a quiet machine and long enough on a busy one.
    func meanwhile() {
        for _ in 0..<3 {
            let started = Signal()
            startThread { started.happen() }
            DispatchQueue.global().async { started.happen() }
            _ = started.wait(count: 2, atMost: patience)
        }
    }
}

/// Starts a thread for a body that may block.
func startThread(_ body: @escaping @Sendable () -> Void) {
    Thread { body() }.start()
}

/// Starts a task that needs no thread of the cooperative pool: checks that run at the same time may
/// occupy all of them with jobs that they hold.
@discardableResult
func startTask(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task.detached(executorPreference: ThreadPerJob(), operation: body)
}

/// Runs each job of a task on a separate thread.
private final class ThreadPerJob: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        startThread { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// A job that runs until it is released.
final class Hold: Sendable {
    let started = Signal()
    private let mayEnd = Signal()
    private let isStarted = Locked(false)

    var hasStarted: Bool { isStarted.withLock { $0 } }

    func stay() {
        isStarted.withLock { $0 = true }
        started.happen()
        mayEnd.wait()
    }

    func release() { mayEnd.happen() }
}

/// Calls a closure repeatedly, on a separate thread, while a check waits.
private final class Driver: Sendable {
    private struct State {
        var waiting = 0
        var isStopped = false
    }

    private let state = Locked(State())
    private let wake = Signal()

    init(_ drive: @escaping @Sendable () -> Void) {
        startThread { [state, wake] in
            while true {
                let (isWanted, isStopped) = state.withLock { ($0.waiting > 0, $0.isStopped) }
                if isStopped { return }
                if isWanted { drive() }
                // The pause lets other threads submit. Without a waiting check the thread sleeps
                // until one waits.
                _ = wake.wait(count: 1, atMost: isWanted ? .microseconds(100) : .seconds(60))
            }
        }
    }

    func begin() {
        state.withLock { $0.waiting += 1 }
        wake.happen()
    }

    func end() { state.withLock { $0.waiting -= 1 } }

    func stop() {
        state.withLock { $0.isStopped = true }
        wake.happen()
    }
}
