package import Dispatch
package import Testing

/// How long the tests wait before they call something a hang.
///
/// No correct test depends on these limits: they only end hangs. So each is far longer than the
/// limited operation takes beside other tests, and longer still on a slow machine.
package enum Patience {
    /// An event that must happen: the end of a thread, of a job or of a wait.
    package static let event: Duration = .seconds(900) * pace

    /// `event`, from now.
    package static var deadline: DispatchTime { .now() + .seconds(900 * pace) }

    /// A simulated thread that computes between two of its steps.
    package static let step: Duration = .seconds(60) * pace

    /// A hang that the test itself causes, and that must be reported: the patiences to try one
    /// after another.
    ///
    /// A short one saves time, but may end before the hang has come about.
    package static let hangs: [Duration] = [.milliseconds(50), .seconds(1), .seconds(10), step]

    /// The slowdown of a computation relative to a quiet machine: at least 1, at most 20.
    static let pace: Int = {
        let clock = ContinuousClock()
        let took = clock.measure {
            var (state, sum) = (UInt64(1), UInt64(0))
            for _ in 0..<1_000_000 {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                sum &+= state
            }
            // Used, so that it is computed.
            precondition(sum != 0)
        }
        // A machine that is not new needs 4 ms in debug builds, and 2 ms in release builds.
        return min(max(Int((took / .milliseconds(5)).rounded(.up)), 1), 20)
    }()
}

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs, later than `Patience.event` ends what it waits for.
    package static var patient: Self { .timeLimit(.minutes(30 * Patience.pace)) }
}
