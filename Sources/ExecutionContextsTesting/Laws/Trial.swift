internal import Dispatch
internal import Foundation

/// One examination of one context: it waits, runs things beside each other and keeps what was found.
///
/// Everything happens on threads of its own, so that a check may block: the threads of the system's pools
/// belong to the context under examination.
final class Trial: Sendable {
    private let name: String
    private let patience: Duration
    private let driver: Driver?
    private let found = Locked<[LawBreach]>([])
    /// What every report ends with.
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

    /// From now on every report says that it was made after the shutdown.
    func hasShutDown() { phase.withLock { $0 = " after the shutdown" } }

    /// Waits until `signal` has come `count` times; false if patience ends first.
    func wait(for signal: Signal, count: Int = 1) -> Bool {
        driver?.begin()
        defer { driver?.end() }
        return signal.wait(count: count, atMost: patience)
    }

    /// Runs `body` on a thread of its own and waits for it without blocking the caller's.
    func onThread(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            startThread {
                body()
                continuation.resume()
            }
        }
    }

    /// Runs a check on a thread of its own, so that a context that never returns holds up only that.
    func attempt(_ law: Int, _ check: @escaping @Sendable () -> Void) {
        let end = Signal()
        startThread {
            check()
            end.happen()
        }
        // Each wait of the check has its own patience; only a call to the context can take longer.
        if !end.wait(count: 1, atMost: patience * 4) {
            report(
                9, "did not return from a call, while law \(law) was checked",
                "Return when the work is handed over, and call nothing with a lock held.")
        }
    }

    /// Runs `body` on several threads at a time and waits for all; false if one has not come back.
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

    /// Occupies a context with a piece of work that ends when it is told to; nil if it never starts.
    ///
    /// - Parameter submit: gives the work to the context; on a thread of its own, which an inline context
    ///   keeps until the end.
    func hold(_ submit: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) -> Hold? {
        let hold = Hold()
        startThread { submit { hold.stay() } }
        guard wait(for: hold.started) else {
            hold.release()
            report(
                1, "has not run a piece of work yet that it was given",
                "Run each closure that execute is given.")
            return nil
        }
        return hold
    }

    /// Gives whatever could start now the time to do so: as long as fresh threads need for it.
    ///
    /// What must not happen cannot be waited for. Measured against others that start, rather than by the
    /// clock, the time is short on a quiet machine and long enough on a busy one.
    func meanwhile() {
        for _ in 0..<3 {
            let started = Signal()
            startThread { started.happen() }
            DispatchQueue.global().async { started.happen() }
            _ = started.wait(count: 2, atMost: patience)
        }
    }
}

/// Starts a thread of its own for a body that may block.
func startThread(_ body: @escaping @Sendable () -> Void) {
    Thread { body() }.start()
}

/// Something that happens, perhaps many times, and can be waited for.
final class Signal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func happen() { semaphore.signal() }

    /// Waits for so many more times; false if they do not come within the limit.
    func wait(count: Int, atMost limit: Duration) -> Bool {
        let deadline = DispatchTime.now() + .nanoseconds(limit.inNanoseconds)
        for _ in 0..<count where semaphore.wait(timeout: deadline) == .timedOut { return false }
        return true
    }

    /// Waits for as long as it takes.
    func wait() { semaphore.wait() }
}

/// A piece of work that stays until it is released.
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

extension Duration {
    /// The whole nanoseconds, at most a day of them.
    fileprivate var inNanoseconds: Int { Int(min(self, .seconds(86_400)) / .nanoseconds(1)) }
}

/// Calls a closure over and over, on a thread of its own, while somebody waits.
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
                // Between two calls it lets others submit; unwanted it rests until it is wanted.
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
