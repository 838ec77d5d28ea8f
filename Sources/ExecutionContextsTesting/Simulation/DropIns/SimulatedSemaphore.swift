public import Dispatch
internal import ExecutionContexts

/// A semaphore for which a thread waits in its simulation, instead of blocking it.
///
/// It has the operations of `DispatchSemaphore`, which blocks the one thread that runs. One line
/// makes a file use it:
///
/// ```swift
/// typealias DispatchSemaphore = SimulatedSemaphore
///
/// let report = search("handshake") { sim in
///     let (asked, answered) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
///     sim.spawn("client") {
///         asked.signal()
///         answered.wait()
///     }
///     sim.spawn("server") { asked.wait() }         // forgets to answer
/// }
/// print(report.failure!.kind == .lostWakeUp)
/// ```
///
/// Made in a simulation it belongs to that schedule. Made elsewhere it is a `DispatchSemaphore`.
public final class SimulatedSemaphore: @unchecked Sendable {
    // Unchecked: in a simulation the thread with the scheduler token owns the state.

    private let real: DispatchSemaphore?
    private var count: Int
    private var waiters: [UInt32] = []
    /// Makes the writes before a signal visible to the thread that it resumes.
    private let edge = Edge()

    /// Makes a semaphore. Its name in the text of a failure is its place in the source.
    public init(value: Int, fileID: StaticString = #fileID, line: UInt = #line) {
        count = value
        guard let host = HostThread.current else {
            real = DispatchSemaphore(value: value)
            return
        }
        real = nil
        let file = "\(fileID)".split(separator: "/").last ?? ""
        host.didMake(Word(of: self), "\(file):\(line)")
    }

    /// Adds one, and resumes a waiting thread; returns whether there was one, as a number.
    @discardableResult
    public func signal() -> Int {
        if let real { return real.signal() }
        edge.release()
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        guard let host = HostThread.current else { refuse() }
        host.willTouch(Word(of: self))
        count += 1
        guard let first = waiters.first else { return 0 }
        waiters.removeFirst()
        return host.unpark(first) ? 1 : 0
    }

    /// Waits until it can take one.
    public func wait() {
        if let real { return real.wait() }
        _ = wait(until: .max)
    }

    /// Waits until it can take one, or the time limit passes in simulated time.
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult {
        if let real { return real.wait(timeout: timeout) }
        guard let host = HostThread.current else { refuse() }
        let interval = simulatedInterval(until: timeout)
        return wait(until: interval.map { host.now + $0 } ?? .max) ? .success : .timedOut
    }

    private func wait(until deadline: Int64) -> Bool {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        guard let host = HostThread.current else { refuse() }
        while true {
            host.willTouch(Word(of: self))
            if count > 0 {
                count -= 1
                edge.acquire()
                return true
            }
            if host.now >= deadline { return false }
            let number = SimulationHooks.thread
            waiters.append(number)
            // Once woken, it checks whether another thread was faster.
            _ = host.park(until: deadline)
            waiters.removeAll { $0 == number }
        }
    }

    private func refuse() -> Never {
        fatalError(
            "A thread outside of the simulation uses a semaphore that was made in it. Start threads with spawn (law 33)."
        )
    }
}

/// The nanoseconds until an instant of Dispatch's real clock; nil for `.distantFuture`.
///
/// Rounded, so that a schedule is the same each time: the clock has advanced since the program read
/// it.
func simulatedInterval(until deadline: DispatchTime) -> Int64? {
    if deadline == .distantFuture { return nil }
    let now = DispatchTime.now().uptimeNanoseconds
    guard deadline.uptimeNanoseconds > now else { return 0 }
    let left = Int64(clamping: deadline.uptimeNanoseconds - now)
    let unit: Int64 = left > 50_000_000 ? 10_000_000 : 1_000_000
    return (left + unit / 2) / unit * unit
}
