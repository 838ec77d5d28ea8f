import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Tasks that sleep in virtual time.
@Suite(.patient)
struct ManualClockTests {
    let context = ManualContext()
    let log = Log()

    @Test func `Law 7: a sleep ends at its deadline, not a nanosecond before`() throws {
        let answer = context.submitTask { [context, log] in
            try await context.clock.sleep(for: .seconds(1))
            log.add(Int(context.now.nanoseconds))
        }
        context.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(context.delayedCount == 1)
        #expect(log.entries.isEmpty)
        context.advance(by: .nanoseconds(1))
        #expect(log.entries == [1_000_000_000])
        #expect(answer.isCompleted)
    }

    @Test func `Law 7: sleeps with the same deadline end in the order in which they began`() {
        for index in 0..<100 {
            context.submitTask { [context, log] in
                try await context.clock.sleep(until: ContextInstant(nanoseconds: 7))
                log.add(index)
            }
        }
        context.advance(by: .nanoseconds(7))
        #expect(log.entries == Array(0..<100))
    }

    @Test func `The clock is a Clock of the standard library`() throws {
        @Sendable func pause(on clock: any Clock<Duration>) async throws {
            try await clock.sleep(for: .seconds(8 * 3_600))
        }
        let clock = context.clock
        let passed = try context.drive { try await clock.measure { try await pause(on: clock) } }
        #expect(passed == .seconds(8 * 3_600))
    }

    @Test func `A task that is cancelled wakes at once, and leaves no delay pending`() {
        let answer = context.submitTask { [context, log] in
            do { try await context.clock.sleep(for: .seconds(60)) } catch is CancellationError {
                log.add(Int(context.now.nanoseconds))
            }
        }
        context.runReady()
        #expect(context.delayedCount == 1)
        answer.cancel()
        #expect(context.delayedCount == 0)
        context.runReady()
        #expect(log.entries == [0])
    }

    @Test func `A task that was already cancelled does not sleep`() {
        context.submitTask { [context, log] in
            // Unsafe only if the handle escaped; it is used on the spot.
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            do { try await context.clock.sleep(for: .seconds(60)) } catch { log.add(1) }
        }
        context.runReady()
        #expect(log.entries == [1])
        #expect(context.pending.isEmpty)
    }

    @Test(arguments: [ContextInstant(nanoseconds: -5), ContextInstant(nanoseconds: 0)])
    func `A deadline that has passed is due at once`(_ deadline: ContextInstant) {
        let answer = context.submitTask { [context] in
            try await context.clock.sleep(until: deadline)
        }
        context.runReady()
        #expect(answer.isCompleted)
    }

    @Test func `An endless sleep can be cancelled`() throws {
        let answer = context.submitTask { [context] in try await context.clock.sleep(until: .never)
        }
        context.advance(by: .seconds(Int64.max))
        #expect(!answer.isCompleted)
        #expect(context.pending.isEmpty)
        answer.cancel()
        #expect(context.runReady() == 1)
    }

    @Test func `A pending sleep is listed with the name of its context`() {
        let named = context.named("alarm")
        context.submitTask { try await named.clock.sleep(for: .seconds(1)) }
        context.runReady()
        #expect(context.pending.map(\.description) == ["a sleep on 'alarm', due at 1.0 seconds"])
        context.advance(by: .seconds(1))
    }

    @Test func `Law 1: a time source that drops a sleep cancels it`() async throws {
        let (sleeps, begin) = AsyncStream.makeStream(of: Void.self)
        let task: Task<Void, any Error>
        do {
            let time = Forgetful(begin)
            let clock = ContextClock(time)
            task = Task { try await clock.sleep(for: .seconds(1)) }
            for await _ in sleeps { break }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `The sleeps of a task group race in virtual time`() throws {
        let winner = try context.drive { [context] in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for seconds in [3, 1, 2] {
                    group.addTask {
                        try await context.clock.sleep(for: .seconds(seconds))
                        return seconds
                    }
                }
                defer { group.cancelAll() }
                return try await group.next()
            }
        }
        #expect(winner == 1)
        #expect(context.now == ContextInstant(nanoseconds: 1_000_000_000))
        #expect(context.pending.isEmpty)
    }
}

/// A time source that drops each delay it is given, and reports that.
private final class Forgetful: TimeSource {
    private let drops: AsyncStream<Void>.Continuation
    init(_ drops: AsyncStream<Void>.Continuation) { self.drops = drops }
    var now: ContextInstant { ContextInstant(nanoseconds: 0) }
    func add(_ delay: DelayedWork, tolerance: Duration) { drops.yield() }
    func remove(_ delay: DelayedWork) {}
}
