import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Manual contexts under misuse and stress.
@Suite(.patient)
struct ManualBadDayTests {
    let context = ManualContext()
    let log = Log()

    // MARK: Odd advances

    @Test(arguments: [Duration.seconds(-5), .seconds(Int64.min), .zero])
    func `An advance that is not positive runs the ready jobs and does not move time`(
        _ duration: Duration
    ) {
        context.advance(by: .seconds(1))
        context.execute { [log] in log.add(1) }
        context.schedule(after: .nanoseconds(1)) { [log] in log.add(2) }
        context.advance(by: duration)
        #expect(log.entries == [1])
        #expect(context.now == ContextInstant(nanoseconds: 1_000_000_000))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .nanoseconds(Int64.max)])
    func `A huge advance saturates at the end of time`(_ duration: Duration) {
        context.schedule(after: .seconds(9_000_000_000)) { [log] in log.add(1) }
        context.advance(by: duration)
        context.advance(by: duration)
        #expect(context.now == .never)
        #expect(log.entries == [1])
        context.schedule(after: .zero) { [log] in log.add(2) }
        context.execute { [log] in log.add(3) }
        context.advance(by: duration)
        #expect(log.entries == [1, 3])
    }

    // MARK: From within a job

    @Test func `Law 9: a job may submit, schedule, cancel and query its own context`() {
        let cancelled = context.schedule(after: .seconds(1)) { [log] in log.add(-1) }
        let due = Locked<DelayedWork?>(nil)
        context.schedule(after: .milliseconds(500)) { [context, log] in
            log.add(cancelled.cancel() ? 1 : -2)
            log.add(context.pending.count)
            context.execute { log.add(3) }
            context.schedule(after: .seconds(-1)) { log.add(4) }
            // That delay is also due, and submitted already. It can still be cancelled.
            log.add(due.value?.cancel() == true ? 5 : -3)
        }
        due.value = context.schedule(after: .milliseconds(500)) { [log] in log.add(-4) }
        context.advance(by: .seconds(2))
        #expect(log.entries == [1, 1, 5, 3, 4])
        #expect(context.pending.isEmpty)
    }

    @Test func `Law 9: the deinit of a cancelled delay's capture may use the context`() {
        let farewell = Farewell { [context] in context.execute {} }
        let delay = context.schedule(after: .seconds(1)) { _ = farewell }
        _ = consume farewell
        delay.cancel()
        #expect(context.readyCount >= 0)
        context.execute { [log] in log.add(1) }
        context.runReady()
        #expect(log.entries == [1])
    }

    #if compiler(>=6.3)
    @Test(arguments: RunCommand.allCases)
    func `Law 2: running a context from within its own job traps with a message`(
        _ command: RunCommand
    )
        async throws
    {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [command] in
            let context = ManualContext(name: "busy")
            context.execute { command.run(context) }
            context.runReady()
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("'busy' was driven from within its own work"), "\(text)")
        #expect(text.contains("law 2"))
    }
    #endif

    @Test func `Law 2: running a context on two threads at a time traps with a message`()
        async throws
    {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let context = ManualContext(name: "busy")
            context.execute {
                let end = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    context.advance(by: .seconds(1))
                    end.signal()
                }
                end.wait()
            }
            context.advance(by: .seconds(1))
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("'busy' was driven by two threads at a time"), "\(text)")
    }

    @Test func `Endless jobs in one call trap with a message instead of hanging`() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let context = ManualContext(name: "endless", time: ManualTime(limit: 5_000))
            _ = context.schedule(every: .nanoseconds(1)) {}
            context.advance(by: .seconds(Int64.max))
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("'endless' ran 5000 jobs"), "\(text)")
        #expect(text.contains("ManualBadDayTests.swift:"), "\(text)")
    }

    // MARK: Many threads

    @Test func `Law 1: sixteen threads submit while one advances, and every job runs once`() async {
        let context = context
        let (threads, each) = (16, 400)
        let runs = Locked([Int](repeating: 0, count: threads * each))
        await withCheckedContinuation { done in
            let left = Locked(threads)
            for thread in 0..<threads {
                Thread.detachNewThread {
                    for index in 0..<each {
                        let number = thread * each + index
                        let note: Work = { runs.withLock { $0[number] += 1 } }
                        switch index % 4 {
                        case 0: context.execute(note)
                        case 1: context.schedule(after: .microseconds(index % 7), note)
                        case 2: context.serial(named: "view").execute(note)
                        default:
                            let delay = context.schedule(after: .seconds(index), note)
                            if delay.cancel() { note() }
                        }
                    }
                    left.withLock { $0 -= 1 }
                }
            }
            Thread.detachNewThread {
                while left.value > 0 { context.advance(by: .microseconds(1)) }
                context.advance(by: .milliseconds(1))
                done.resume()
            }
        }
        #expect(runs.value.allSatisfy { $0 == 1 })
        #expect(context.pending.isEmpty)
    }

    @Test func `Law 7: delays from many threads run in the order of their deadlines`() async {
        let context = context
        let moments = Locked<[ContextInstant]>([])
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for index in 0..<500 {
                        context.schedule(after: .microseconds((index * 37 + task) % 499)) {
                            moments.withLock { $0.append(context.now) }
                        }
                    }
                }
            }
        }
        context.advance(by: .seconds(1))
        #expect(moments.value.count == 4_000)
        #expect(moments.value == moments.value.sorted())
    }

    @Test func `Very many delays, most of them cancelled, leave nothing pending`() {
        let context = context
        let count = rounds(debug: 20_000, release: 100_000)
        var delays: [DelayedWork] = []
        for index in 0..<count {
            delays.append(context.schedule(after: .microseconds((index * 7_919) % count), {}))
        }
        for (index, delay) in delays.enumerated() where index % 3 != 0 { delay.cancel() }
        #expect(context.delayedCount == (count + 2) / 3)
        context.advance(by: .seconds(1))
        #expect(context.pending.isEmpty)
    }
}

/// The calls that run the jobs of a context.
enum RunCommand: String, CaseIterable, Codable {
    case step, runReady, advance, runUntilIdle, drive

    func run(_ context: ManualContext) {
        switch self {
        case .step: context.step()
        case .runReady: context.runReady()
        case .advance: context.advance(by: .seconds(1))
        case .runUntilIdle: _ = try? context.runUntilIdle()
        case .drive: try? context.drive {}
        }
    }
}

/// Calls a closure in its deinit.
final class Farewell: Sendable {
    private let action: Work
    init(_ action: @escaping Work) { self.action = action }
    deinit { action() }
}

/// A value behind a lock.
final class Locked<Value>: @unchecked Sendable {
    // Unchecked: `stored` is reached only under `lock`.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.withLock { body(&stored) }
    }
}
