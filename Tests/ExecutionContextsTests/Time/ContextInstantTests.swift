import ExecutionContexts
import Testing

/// Arithmetic of moments: exact, rounded up, and saturating.
struct ContextInstantTests {
    @Test(
        arguments: [
            (Duration.zero, 0),
            (.nanoseconds(1), 1),
            (Duration(secondsComponent: 0, attosecondsComponent: 1), 1),
            (Duration(secondsComponent: 0, attosecondsComponent: 1_000_000_001), 2),
            (.seconds(9), 9_000_000_000),
            (
                .seconds(3600) + Duration(secondsComponent: 0, attosecondsComponent: 1),
                3_600_000_000_001
            ),
            (.seconds(9_223_372_036), 9_223_372_036_000_000_000),
            (.seconds(9_223_372_037), Int64.max),
            (.seconds(Int64.max), Int64.max),
            (.seconds(-1), -1_000_000_000),
            (.seconds(-3600), -3_600_000_000_000),
            (.seconds(Int64.min), Int64.min),
        ] as [(Duration, Int64)])
    func `Law 7: a moment advances by whole nanoseconds, rounded up, and saturates`(
        _ duration: Duration, _ nanoseconds: Int64
    ) {
        #expect(ContextInstant(nanoseconds: 0).advanced(by: duration).nanoseconds == nanoseconds)
    }

    @Test func `Law 7: arithmetic on moments saturates at both ends of time`() {
        #expect(ContextInstant.never.advanced(by: .seconds(1)) == .never)
        #expect(ContextInstant(nanoseconds: .max - 1).advanced(by: .seconds(1)) == .never)
        #expect(ContextInstant(nanoseconds: .min).duration(to: .never) == .nanoseconds(Int64.max))
        #expect(
            ContextInstant(nanoseconds: 5).duration(to: ContextInstant(nanoseconds: 3))
                == .nanoseconds(-2))
    }
}
