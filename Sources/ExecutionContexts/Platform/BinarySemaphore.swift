internal import CPlatform
internal import Dispatch

/// A semaphore that a simulation sees: one that is made in a simulation is waited for in it.
///
/// For rare and long waits. One thread at a time waits.
enum BinarySemaphore: Sendable {
    case real(DispatchSemaphore)
    case simulated(Simulated)

    init() {
        self =
            SimulationHooks.current == nil
            ? .real(DispatchSemaphore(value: 0)) : .simulated(Simulated())
    }

    func signal() {
        switch self {
        case .real(let semaphore): semaphore.signal()
        case .simulated(let state): state.signal()
        }
    }

    /// Waits for a signal; `resumption` says how the thread continues afterwards.
    func wait(then resumption: BlockingScope.Resumption = .whenThereIsRoom) {
        switch self {
        case .real(let semaphore):
            ec_refuse_wait_in_fork()
            BlockingScope.waiting(then: resumption) { semaphore.wait() }
        case .simulated(let state): _ = state.wait(until: Parker.never)
        }
    }

    /// Waits until the monotonic clock shows `deadline`; false if no signal arrived.
    func wait(until deadline: Int64) -> Bool {
        switch self {
        case .real(let semaphore):
            ec_refuse_wait_in_fork()
            // Dispatch counts from the same instant. An interval may have 32 bits, as on watches.
            let limit = DispatchTime(uptimeNanoseconds: UInt64(max(deadline, 1)))
            return BlockingScope.waiting(then: .whenThereIsRoom) {
                semaphore.wait(timeout: limit) == .success
            }
        case .simulated(let state): return state.wait(until: deadline)
        }
    }

    /// A count and its waiter, which is woken through the simulation.
    final class Simulated: Sendable {
        private struct State: ~Copyable {
            var count = 0
            var waiter: Parker?
        }

        private let state = Guarded(State())

        fileprivate func signal() {
            let waiter = state.withLock { state in
                state.count += 1
                return state.waiter.take()
            }
            if let waiter { unsafe waiter.unpark(by: Threads.own) }
        }

        fileprivate func wait(until deadline: Int64) -> Bool {
            let thread = unsafe Threads.own
            while true {
                let isOver = state.withLock { state in
                    if state.count > 0 {
                        state.count -= 1
                        state.waiter = nil
                        return true
                    }
                    unsafe state.waiter = Parker(thread)
                    return false
                }
                if isOver { return true }
                if unsafe SimulationHooks.now(thread) >= deadline { return false }
                unsafe Parker(thread).park(until: deadline)
            }
        }
    }
}
