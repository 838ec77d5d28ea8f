import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

struct ManualContextTests {
    let context = ManualContext()
    let log = Log()

    // MARK: Order

    @Test func `No job runs until the test runs the context`() {
        context.execute { [log] in log.add(1) }
        #expect(log.entries.isEmpty)
        #expect(context.readyCount == 1)
        #expect(context.runReady() == 1)
        #expect(log.entries == [1])
        #expect(context.readyCount == 0)
    }

    @Test func `Jobs run in the order of submission, one for each step`() {
        for index in 1...3 { context.execute { [log] in log.add(index) } }
        #expect(context.step())
        #expect(log.entries == [1])
        #expect(context.step())
        #expect(context.step())
        #expect(!context.step())
        #expect(log.entries == [1, 2, 3])
    }

    @Test func `A job submitted by a job runs in the same runReady, after the jobs before it`() {
        context.execute { [context, log] in
            log.add(1)
            context.execute { log.add(3) }
        }
        context.execute { [log] in log.add(2) }
        #expect(context.runReady() == 3)
        #expect(log.entries == [1, 2, 3])
    }

    @Test func `It is current in its own jobs only`() {
        #expect(context.isCurrent == false)
        context.execute { [context, log] in log.add(context.isCurrent == true ? 1 : 0) }
        context.runReady()
        #expect(log.entries == [1])
        #expect(context.isCurrent == false)
    }

    // MARK: Time

    @Test func `Each delay runs at its own deadline, in order`() {
        let start = context.now
        for seconds in [3, 1, 2, 1] {
            context.schedule(after: .seconds(seconds)) { [context, log] in
                log.add(Int(start.duration(to: context.now) / .seconds(1)))
            }
        }
        context.advance(by: .seconds(2))
        #expect(log.entries == [1, 1, 2])
        #expect(context.delayedCount == 1)
        context.advance(by: .seconds(1))
        #expect(log.entries == [1, 1, 2, 3])
        #expect(start.duration(to: context.now) == .seconds(3))
    }

    @Test func `A delay is not due a nanosecond before its deadline`() {
        context.schedule(after: .seconds(1)) { [log] in log.add(1) }
        context.advance(by: .seconds(1) - .nanoseconds(1))
        #expect(log.entries.isEmpty)
        context.advance(by: .nanoseconds(1))
        #expect(log.entries == [1])
    }

    @Test func `A delay that is set by a delay runs in the same advance if it becomes due`() {
        context.schedule(after: .seconds(1)) { [context, log] in
            log.add(1)
            context.schedule(after: .seconds(1)) { log.add(2) }
            context.schedule(after: .seconds(5)) { log.add(6) }
        }
        context.advance(by: .seconds(3))
        #expect(log.entries == [1, 2])
    }

    @Test func `runReady does not move time`() {
        context.schedule(after: .zero) { [log] in log.add(1) }
        context.schedule(after: .nanoseconds(1)) { [log] in log.add(2) }
        let before = context.now
        #expect(context.runReady() == 1)
        #expect(log.entries == [1])
        #expect(context.now == before)
    }

    @Test func `Time does not go back`() {
        context.advance(by: .seconds(2))
        context.advance(to: ContextInstant(nanoseconds: 5))
        #expect(context.now == ContextInstant(nanoseconds: 2_000_000_000))
    }

    @Test func `A repetition runs once in each interval until it is cancelled`() {
        let repetition = context.schedule(every: .seconds(1), policy: .fixedDelay) { [log] in
            log.add(1)
        }
        context.advance(by: .seconds(5))
        #expect(log.entries.count == 5)
        #expect(repetition.cancel())
        #expect(!repetition.cancel())
        context.advance(by: .seconds(5))
        #expect(log.entries.count == 5)
    }

    @Test func `A cancelled delay is removed at once`() {
        let delay = context.schedule(after: .seconds(1)) { [log] in log.add(1) }
        #expect(context.delayedCount == 1)
        #expect(delay.cancel())
        #expect(context.delayedCount == 0)
        context.advance(by: .seconds(2))
        #expect(log.entries.isEmpty)
    }

    @Test func `A huge delay saturates, and an infinite one is not kept`() {
        context.schedule(after: .seconds(Int64.max)) { [log] in log.add(1) }
        context.schedule(at: .never) { [log] in log.add(2) }
        #expect(context.delayedCount == 0)
        context.advance(by: .seconds(Int64.max))
        #expect(context.now == .never)
        #expect(log.entries.isEmpty)
    }

    // MARK: Views and threads

    @Test func `Views of it have its time`() {
        let view = context.serial(named: "view").limited(to: 2).named("outer")
        view.schedule(after: .seconds(60)) { [log] in log.add(1) }
        #expect(context.delayedCount == 1)
        context.advance(by: .seconds(60))
        #expect(log.entries == [1])
    }

    @Test func `Other threads may submit jobs`() async {
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { [context, log] in
                    for _ in 0..<100 { context.execute { log.add(1) } }
                }
            }
        }
        #expect(context.runReady() == 800)
        #expect(log.entries.count == 800)
    }

    @Test func `A submission completes when the test runs the context`() async throws {
        let answer = context.submit { 42 }
        #expect(answer.outcome == nil)
        context.runReady()
        #expect(try await answer.get() == 42)
    }

    @Test func `Running it from within its own job traps`() async {
        await #expect(processExitsWith: .failure) {
            let context = ManualContext()
            context.execute { context.runReady() }
            context.runReady()
        }
    }
}

struct FailingContextTests {
    @Test func `Every use of it is reported with its name, and no job runs`() {
        let log = Log()
        let context = FailingContext(name: "disk") { message in
            if message.contains("'disk'") { log.add(1) }
        }
        context.execute { log.add(2) }
        context.executeBarrier { log.add(2) }
        context.enqueue { log.add(2) }
        #expect(log.entries == [1, 1, 1])
    }

    @Test func `A delay on it is reported with its source location, once`() {
        let messages = Locked<[String]>([])
        let context = FailingContext(name: "disk") { message in
            messages.withLock { $0.append(message) }
        }
        context.serial(named: "view").schedule(after: .seconds(1)) {}
        #expect(messages.value.count == 1)
        #expect(messages.value[0].contains("ManualContextTests.swift:\(#line - 2) on 'disk'"))
    }

    @Test func `A delay on it is reported and does not run`() {
        let log = Log()
        let context = FailingContext { _ in log.add(1) }
        context.schedule(after: .zero) { log.add(2) }.cancel()
        #expect(!log.entries.isEmpty)
        #expect(!log.entries.contains(2))
    }

    @Test func `A caller that awaits a job on it receives a refusal`() async {
        let context = FailingContext(name: "disk") { _ in }
        let refusal = await #expect(throws: Refusal.self) { try await context.run {} }
        #expect(refusal?.reason == .abandoned)
        #expect(refusal?.context == "disk")
    }

    @Test func `It is never current`() {
        #expect(FailingContext { _ in }.isCurrent == false)
    }

    @Test func `By default its use traps`() async {
        await #expect(processExitsWith: .failure) {
            FailingContext().execute {}
        }
    }
}

/// A log of numbers, in order.
final class Log: @unchecked Sendable {
    // Unchecked: `stored` is reached only under `lock`, which the thread sanitizer understands.
    private let lock = NSLock()
    private var stored: [Int] = []

    var entries: [Int] { lock.withLock { stored } }

    func add(_ entry: Int) { lock.withLock { stored.append(entry) } }
}
