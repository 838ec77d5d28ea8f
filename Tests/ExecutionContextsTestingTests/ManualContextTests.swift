import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

struct ManualContextTests {
    let context = ManualContext()
    let log = Log()

    // MARK: Order

    @Test func `Nothing runs until it is told to`() {
        context.execute { [log] in log.add(1) }
        #expect(log.entries.isEmpty)
        #expect(context.readyCount == 1)
        #expect(context.runReady() == 1)
        #expect(log.entries == [1])
        #expect(context.readyCount == 0)
    }

    @Test func `Work runs in the order of submission, one piece for each step`() {
        for index in 1...3 { context.execute { [log] in log.add(index) } }
        #expect(context.step())
        #expect(log.entries == [1])
        #expect(context.step())
        #expect(context.step())
        #expect(!context.step())
        #expect(log.entries == [1, 2, 3])
    }

    @Test func `Work submitted from work runs in the same runReady, after what was there`() {
        context.execute { [context, log] in
            log.add(1)
            context.execute { log.add(3) }
        }
        context.execute { [log] in log.add(2) }
        #expect(context.runReady() == 3)
        #expect(log.entries == [1, 2, 3])
    }

    @Test func `It is current in its own work only`() {
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

    @Test func `A delay that is set by a delay runs in the same advance where it is due in it`() {
        context.schedule(after: .seconds(1)) { [context, log] in
            log.add(1)
            context.schedule(after: .seconds(1)) { log.add(2) }
            context.schedule(after: .seconds(5)) { log.add(6) }
        }
        context.advance(by: .seconds(3))
        #expect(log.entries == [1, 2])
    }

    @Test func `Running what is due now does not move time`() {
        context.schedule(after: .zero) { [log] in log.add(1) }
        context.schedule(after: .nanoseconds(1)) { [log] in log.add(2) }
        let before = context.now
        #expect(context.runReady() == 1)
        #expect(log.entries == [1])
        #expect(context.now == before)
    }

    @Test func `Time does not go back`() {
        context.advance(by: .seconds(2))
        context.advance(to: Moment(nanoseconds: 5))
        #expect(context.now == Moment(nanoseconds: 2_000_000_000))
    }

    @Test func `A late start runs a repetition by its policy`() {
        let repetition = context.repeat(every: .seconds(1), policy: .fixedDelay) { [log] in log.add(1) }
        context.advance(by: .seconds(5))
        #expect(log.entries.count == 5)
        #expect(repetition.cancel())
        #expect(!repetition.cancel())
        context.advance(by: .seconds(5))
        #expect(log.entries.count == 5)
    }

    @Test func `A cancelled delay is gone at once`() {
        let delay = context.schedule(after: .seconds(1)) { [log] in log.add(1) }
        #expect(context.delayedCount == 1)
        #expect(delay.cancel())
        #expect(context.delayedCount == 0)
        context.advance(by: .seconds(2))
        #expect(log.entries.isEmpty)
    }

    @Test func `A huge delay saturates, and an infinite one is not kept`() {
        context.schedule(after: .seconds(Int64.max)) { [log] in log.add(1) }
        context.schedule(after: .infinity) { [log] in log.add(2) }
        #expect(context.delayedCount == 0)
        context.advance(by: .seconds(Int64.max))
        #expect(context.now == .never)
        #expect(log.entries.isEmpty)
    }

    // MARK: Views and threads

    @Test func `Views of it take its time with them`() {
        let view = context.serial("view").limited(to: 2).named("outer")
        view.schedule(after: .seconds(60)) { [log] in log.add(1) }
        #expect(context.delayedCount == 1)
        context.advance(by: .seconds(60))
        #expect(log.entries == [1])
    }

    @Test func `Work may be submitted from other threads`() async {
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

    @Test func `What is submitted ends when the context is told to run it`() async throws {
        let answer = context.submit { 42 }
        #expect(answer.outcome == nil)
        context.runReady()
        #expect(try await answer.get() == 42)
    }

    @Test func `Telling it to run from within its own work stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let context = ManualContext()
            context.execute { context.runReady() }
            context.runReady()
        }
    }
}

struct FailingContextTests {
    @Test func `Every use of it is reported by its name, and nothing runs`() {
        let log = Log()
        let context = FailingContext(name: "disk") { message in
            if message.contains("'disk'") { log.add(1) }
        }
        context.execute { log.add(2) }
        context.executeBarrier { log.add(2) }
        context.enqueue { log.add(2) }
        #expect(log.entries == [1, 1, 1])
    }

    @Test func `A delay on it is reported with its place, once`() {
        let messages = Locked<[String]>([])
        let context = FailingContext(name: "disk") { message in messages.withLock { $0.append(message) } }
        context.serial("view").schedule(after: .seconds(1)) {}
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

    @Test func `Who awaits work on it is told that it will not run`() async {
        let context = FailingContext(name: "disk") { _ in }
        let refusal = await #expect(throws: Refusal.self) { try await context.run {} }
        #expect(refusal?.reason == .abandoned)
        #expect(refusal?.context == "disk")
    }

    @Test func `It is never current`() {
        #expect(FailingContext { _ in }.isCurrent == false)
    }

    @Test func `By default its use stops the program`() async {
        await #expect(processExitsWith: .failure) {
            FailingContext().execute {}
        }
    }
}

/// What has happened, in order.
final class Log: @unchecked Sendable {
    // Unchecked: `stored` is reached only under `lock`, which the thread sanitizer understands.
    private let lock = NSLock()
    private var stored: [Int] = []

    var entries: [Int] { lock.withLock { stored } }

    func add(_ entry: Int) { lock.withLock { stored.append(entry) } }
}
