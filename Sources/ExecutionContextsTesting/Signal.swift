internal import CSimulation
internal import Dispatch

/// An event that may happen many times and that threads can wait for.
///
/// Simulations use it themselves, so its semaphore must not count as the simulated program's.
final class Signal: Sendable {
    private let semaphore = outside { DispatchSemaphore(value: 0) }

    func happen() { Self.outside { _ = semaphore.signal() } }

    /// Waits for `count` more events; returns false if they do not happen within the limit.
    func wait(count: Int, atMost limit: Duration) -> Bool {
        Self.outside {
            let deadline = DispatchTime.now() + .nanoseconds(limit.inNanoseconds)
            for _ in 0..<count where semaphore.wait(timeout: deadline) == .timedOut {
                return false
            }
            return true
        }
    }

    /// Waits for one more event, without a limit.
    func wait() { Self.outside { semaphore.wait() } }

    /// Runs `body` as on a thread outside of simulations.
    private static func outside<Result>(_ body: () -> Result) -> Result {
        let own = unsafe ecs_swap_current(nil)
        defer { _ = unsafe ecs_swap_current(own) }
        return body()
    }
}

extension Duration {
    /// The whole nanoseconds, at most a day of them.
    fileprivate var inNanoseconds: Int { Int(min(self, .seconds(86_400)) / .nanoseconds(1)) }
}
