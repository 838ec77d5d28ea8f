import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Contexts that share a time, lateness, background work, and pending work.
struct ManualTimeTests {
    let time = ManualTime()
    let log = Log()

    func contexts(_ count: Int) -> [ManualContext] {
        (1...count).map { ManualContext(name: "context \($0)", time: time) }
    }

    // MARK: One order for all contexts

    @Test
    func `Law 7: contexts that share a time run in the order of deadline, then of submission`() {
        let contexts = contexts(3)
        for (index, seconds) in [3, 1, 2, 1, 3, 2].enumerated() {
            contexts[index % 3].schedule(after: .seconds(seconds)) { [log] in
                log.add(seconds * 10 + index)
            }
        }
        time.advance(by: .seconds(3))
        #expect(log.entries == [11, 13, 22, 25, 30, 34])
    }

    @Test func `Law 2: ready jobs of several contexts run in the order of submission`() {
        let contexts = contexts(3)
        for index in 0..<9 { contexts[(index * 2) % 3].execute { [log] in log.add(index) } }
        #expect(time.runReady() == 9)
        #expect(log.entries == Array(0..<9))
    }

    @Test func `A context runs only its own jobs, unless time advances`() {
        let contexts = contexts(2)
        contexts[0].execute { [log] in log.add(0) }
        contexts[1].execute { [log] in log.add(1) }
        #expect(contexts[1].runReady() == 1)
        #expect(log.entries == [1])
        #expect(!contexts[1].step())
        contexts[1].advance(by: .zero)
        #expect(log.entries == [1, 0])
    }

    @Test func `Only the context whose job runs is current`() {
        let contexts = contexts(2)
        contexts[0].execute { [log] in
            log.add(contexts[0].isCurrent == true ? 1 : 0)
            log.add(contexts[1].isCurrent == true ? 1 : 0)
        }
        time.runReady()
        #expect(log.entries == [1, 0])
    }

    @Test func `Delays with the same deadline are submitted before the jobs that they submit`() {
        let context = ManualContext(time: time)
        for index in 1...2 {
            context.schedule(after: .seconds(1)) { [log] in
                log.add(index)
                context.execute { log.add(index + 10) }
            }
        }
        context.advance(by: .seconds(1))
        #expect(log.entries == [1, 2, 11, 12])
    }

    @Test func `A custom context takes part if it has this time`() {
        struct Inline: ExecutionContext {
            let time: any TimeSource
            func execute(_ work: @escaping Work) { work() }
        }
        Inline(time: time).schedule(after: .seconds(1)) { [log] in log.add(1) }
        #expect(time.pending.map(\.context) == ["Inline"])
        time.advance(by: .seconds(1))
        #expect(log.entries == [1])
    }

    @Test func `Law 10: a job of a freed context runs under its time`() {
        ManualContext(time: time).execute { [log] in log.add(1) }
        #expect(time.runReady() == 1)
        #expect(log.entries == [1])
        #expect(time.runReady() == 0)
    }

    // MARK: Late

    @Test func `A time can make each delay late, by as much as its tolerance`() {
        let time = ManualTime(lateness: { $0.tolerance })
        let context = ManualContext(time: time)
        let start = time.now
        for (seconds, tolerance) in [(1, 3), (2, 0), (3, 2)] {
            context.schedule(after: .seconds(seconds), tolerance: .seconds(tolerance)) { [log] in
                log.add(Int(start.duration(to: time.now) / .seconds(1)))
            }
        }
        time.advance(by: .seconds(10))
        #expect(log.entries == [2, 4, 5])
    }

    @Test func `Law 7: lateness below zero makes no delay early`() {
        let time = ManualTime(lateness: { _ in .seconds(-5) })
        let context = ManualContext(time: time)
        context.schedule(after: .seconds(10)) { [log] in log.add(1) }
        time.advance(by: .seconds(9))
        #expect(log.entries.isEmpty)
        time.advance(by: .seconds(1))
        #expect(log.entries == [1])
    }

    @Test func `Lateness may depend on a delay's source location and context`() {
        let time = ManualTime(lateness: {
            $0.context == "late" && $0.sourceLocation != nil ? .seconds(1) : .zero
        })
        let context = ManualContext(time: time)
        context.serial(named: "late").schedule(after: .seconds(1)) { [log] in log.add(2) }
        context.serial(named: "punctual").schedule(after: .seconds(1)) { [log] in log.add(1) }
        time.advance(by: .seconds(1))
        #expect(log.entries == [1])
        time.advance(by: .seconds(1))
        #expect(log.entries == [1, 2])
    }

    @Test(arguments: [(DriftPolicy.skip, 1), (.catchUp, 4), (.fixedDelay, 1)])
    func `After a stall a repetition follows its drift policy`(_ policy: DriftPolicy, _ runs: Int) {
        let context = ManualContext(time: time)
        let repetition = context.schedule(every: .seconds(1), policy: policy) { [log] in log.add(1)
        }
        context.stall(for: .milliseconds(4_500))
        #expect(log.entries.isEmpty)
        context.runReady()
        #expect(log.entries.count == runs)
        repetition.cancel()
    }

    @Test func `A job that stalls makes later delays late`() {
        let context = ManualContext(time: time)
        context.schedule(after: .seconds(1)) { [time] in time.stall(for: .seconds(5)) }
        context.schedule(after: .seconds(2)) { [log, time] in
            log.add(Int(time.now.nanoseconds / 1_000_000_000))
        }
        context.advance(by: .seconds(2))
        #expect(log.entries == [6])
        context.stall(for: .seconds(-100))
        #expect(time.now == ContextInstant(nanoseconds: 6_000_000_000))
    }

    // MARK: Idle

    @Test func `runUntilIdle advances time from delay to delay`() throws {
        let context = ManualContext(time: time)
        context.schedule(after: .seconds(3_600)) { [log] in
            log.add(1)
            context.schedule(after: .seconds(3_600)) { log.add(2) }
        }
        #expect(try context.runUntilIdle() == 2)
        #expect(log.entries == [1, 2])
        #expect(time.now == ContextInstant(nanoseconds: 7_200_000_000_000))
    }

    @Test func `runUntilIdle reports an endless repetition with its source location`() throws {
        let context = ManualContext(name: "poller", time: time)
        let repetition = context.schedule(every: .seconds(1)) { [log] in log.add(1) }
        let line = #line - 1
        let failure = try #require(throws: ManualFailure.self) {
            try context.runUntilIdle(limit: 50)
        }
        #expect(failure.reason == .neverIdle(afterJobs: 50))
        #expect(log.entries.count == 50)
        #expect("\(failure)".contains("'poller'"))
        #expect("\(failure)".contains("ManualTimeTests.swift:\(line)"))
        repetition.cancel()
        try context.runUntilIdle()
    }

    @Test func `A job that submits itself for ever is not idle either`() throws {
        let context = ManualContext(time: time)
        @Sendable func again() { context.execute { again() } }
        again()
        let failure = try #require(throws: ManualFailure.self) { try time.runUntilIdle(limit: 50) }
        #expect(failure.pending.count == 1)
        #expect(throws: ManualFailure.self) { try context.finish() }
    }

    @Test func `Background work runs meanwhile, and keeps no context from being idle`() throws {
        let context = ManualContext(time: time)
        let background = ManualContext(name: "heart", time: time, isBackground: true)
        let beat = background.serial(named: "view").schedule(every: .seconds(1)) { [log] in
            log.add(0)
        }
        context.schedule(after: .milliseconds(2_500)) { [log] in log.add(1) }
        try context.runUntilIdle()
        #expect(log.entries == [0, 0, 1])
        #expect(try time.runUntilIdle() == 0)
        #expect(background.pending.map(\.isBackground) == [true])
        try time.finish()
        #expect(time.pending.isEmpty)
        _ = beat
    }

    // MARK: Pending

    @Test func `Pending work has its kind, its due time and its source location`() {
        let context = ManualContext(name: "base", time: time)
        context.execute {}
        context.schedule(after: .seconds(2)) {}
        context.named("view").schedule(after: .seconds(1), tolerance: .seconds(5)) {}
        let line = #line - 1
        #expect(context.pending.map(\.context) == ["base", "view", "base"])
        #expect(context.pending.map(\.isReady) == [true, false, false])
        #expect(context.pending.map(\.due.nanoseconds) == [0, 1_000_000_000, 2_000_000_000])
        #expect(context.pending[0].sourceLocation == "ManualTimeTests.swift:\(line - 2)")
        #expect(
            context.pending[1].sourceLocation?.hasSuffix("/ManualTimeTests.swift:\(line)") == true)
        #expect(context.pending[1].tolerance == .seconds(5))
        #expect(
            "\(context.pending[1])".hasPrefix(
                "a delay on 'view', due at 1.0 seconds, submitted at "))
        #expect(time.pending == context.pending)
        #expect(ManualContext(time: time).pending.isEmpty)
    }

    @Test func `A delay that is due keeps its source location until it runs`() {
        let context = ManualContext(time: time)
        context.schedule(after: .seconds(1)) {}
        context.execute { [log] in log.add(1) }
        context.stall(for: .seconds(1))
        #expect(context.step())
        #expect(context.readyCount == 1)
        #expect(context.pending.map { $0.sourceLocation != nil } == [true])
        #expect(log.entries == [1])
    }

    @Test func `finish reports pending work, and drops it`() throws {
        let context = ManualContext(name: "left", time: time)
        let other = ManualContext(time: time)
        other.schedule(after: .seconds(1)) { [log] in log.add(1) }
        context.execute { [log] in log.add(2) }
        context.schedule(after: .seconds(1)) { [log] in log.add(2) }
        let failure = try #require(throws: ManualFailure.self) { try context.finish() }
        #expect(failure.reason == .unfinished)
        #expect(failure.pending.map(\.isReady) == [true, false])
        #expect("\(failure)".contains("'left'"))
        #expect("\(failure)".contains("ManualTimeTests.swift:\(#line - 4)"))
        try context.finish()
        try time.runUntilIdle()
        #expect(log.entries == [1])
    }

    @Test func `A caller that awaits work dropped by finish receives an error`() async throws {
        let context = ManualContext(time: time)
        let answer = context.submit { 1 }
        let task = Task(executorPreference: context.taskExecutor) { [time] in
            try await time.clock.sleep(for: .seconds(1))
        }
        try context.runUntilPending(2)
        context.runReady()
        let late = context.submit { 2 }
        let delayed = answer.delay(.seconds(5), on: context)
        #expect(throws: ManualFailure.self) { try time.finish() }
        #expect(try answer.outcome?.get() == 1)
        #expect(throws: Refusal.self) { try late.outcome?.get() }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(delayed.outcome == nil || delayed.isCompleted)
    }
}

extension ManualContext {
    /// Checks the count. `Task` enqueues its first job before it returns, so there is no wait.
    func runUntilPending(_ count: Int) throws { try #require(readyCount == count) }
}
