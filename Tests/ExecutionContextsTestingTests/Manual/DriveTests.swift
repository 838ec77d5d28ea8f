import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Async code on a manual context.
@Suite(.patient)
struct DriveTests {
    let context = ManualContext(name: "driven")

    @Test func `drive returns the value of the body, or throws its error`() throws {
        struct Rain: Error {}
        #expect(try context.drive { 42 } == 42)
        #expect(throws: Rain.self) { try context.drive { throw Rain() } }
        #expect(context.pending.isEmpty)
    }

    @Test
    func
        `Law 13: groups, actors, continuations, sleeps and yields run in the same order each time`()
        throws
    {
        let first = try Script.run()
        #expect(first.count == 37)
        for _ in 0..<rounds(debug: 200, release: 1_000) { #expect(try Script.run() == first) }
    }

    @Test func `The order is the same on a thread, in a task and on the main actor`() async throws {
        let first = try Script.run()
        let inTask = try await Task { try Script.run() }.value
        let onMain = try await MainActor.run { try Script.run() }
        let onThread = await withCheckedContinuation { continuation in
            DispatchQueue(label: "own").async { continuation.resume(returning: try? Script.run()) }
        }
        #expect(inTask == first)
        #expect(onMain == first)
        #expect(onThread == first)
    }

    @Test func `The body, its child tasks and its actors run on the context`() throws {
        actor Guest { func isOn(_ context: ManualContext) -> Bool { context.isCurrent == true } }
        let context = context
        let answers = try context.drive {
            async let child = context.isCurrent == true
            let guest = await Guest().isOn(context)
            await Task.yield()
            try await context.clock.sleep(for: .seconds(1))
            return await [child, guest, context.isCurrent == true]
        }
        #expect(answers == [true, true, true])
    }

    @Test func `Views, delays and time limits that the body awaits run on the context`() throws {
        let context = context
        let value = try context.drive {
            let sum = try await context.serial(named: "view").run { 1 }
            let late = try await context.submit { 2 }.delay(.seconds(5), on: context).get()
            let never = Promise<Int>()
            await #expect(throws: AsyncError.self) {
                try await never.async.timeout(after: .seconds(3), on: context).get()
            }
            let other = try await context.barrier().runTask { 4 }
            return sum + late + other
        }
        #expect(value == 7)
        #expect(context.now == ContextInstant(nanoseconds: 8_000_000_000))
    }

    @Test func `A retry waits in virtual time`() throws {
        struct Rain: Error {}
        let context = context
        let tries = Log()
        let value = try context.drive {
            try await Async.retry(attempts: 4, backoff: .constant(.seconds(60)), on: context) { _ in
                context.submit {
                    tries.add(1)
                    if tries.entries.count < 3 { throw Rain() }
                    return "dry"
                }
            }.get()
        }
        #expect(value == "dry")
        #expect(context.now == ContextInstant(nanoseconds: 120_000_000_000))
    }

    // MARK: Code that runs elsewhere

    @Test func `A body that waits for code elsewhere is reported at once`() throws {
        let context = context
        let gate = Gate()
        let failure = try #require(throws: ManualFailure.self) {
            try context.drive { await gate.wait() }
        }
        #expect(failure.reason == .stuck)
        #expect("\(failure)".contains("'driven'"))
        #expect("\(failure)".contains("DriveTests.swift:\(#line - 5)"))
        #expect("\(failure)".contains("Nothing is pending."))
        gate.open()
        context.runReady()
    }

    @Test func `A body that is stuck is cancelled`() throws {
        let context = context
        let log = Log()
        #expect(throws: ManualFailure.self) {
            try context.drive {
                await withTaskCancellationHandler {
                    await Gate().wait()
                } onCancel: {
                    log.add(1)
                }
            }
        }
        #expect(log.entries == [1])
    }

    @Test func `An endless repetition ends the drive at its limit`() throws {
        let context = context
        let gate = Gate()
        let beat = context.schedule(every: .seconds(1)) {}
        let failure = try #require(throws: ManualFailure.self) {
            try context.drive(limit: 20) { await gate.wait() }
        }
        #expect(failure.reason == .neverIdle(afterJobs: 20))
        #expect(failure.pending.count == 1)
        beat.cancel()
        gate.open()
        context.runReady()
    }

    @Test @MainActor func `driveAsync waits for the main actor`() async throws {
        let context = context
        let value = try await context.driveAsync {
            try await context.clock.sleep(for: .seconds(3_600))
            return await MainActor.run { 42 }
        }
        #expect(value == 42)
        MainActor.assertIsolated()
    }

    @Test func `driveAsync waits for an unstructured task, and for an actor with its own executor`()
        async throws
    {
        let context = context
        let host = Elsewhere()
        for _ in 0..<50 {
            let value = try await context.driveAsync {
                let task = Task { 40 }
                let one = await host.one()
                return await task.value + one + (context.isCurrent == true ? 1 : 0)
            }
            #expect(value == 42)
        }
        #expect(context.pending.isEmpty)
    }

    @Test func `driveAsync reports a stuck body when its patience ends`() async throws {
        let context = context
        let gate = Gate()
        let failure = await #expect(throws: ManualFailure.self) {
            try await context.driveAsync(patience: .milliseconds(5)) { await gate.wait() }
        }
        #expect(failure?.reason == .stuck)
        gate.open()
        context.runReady()
    }

    @Test func `Cancelling the task that drives cancels the body`() async throws {
        let context = context
        let gate = Gate()
        let task = Task {
            try await context.driveAsync {
                context.execute { gate.open() }
                await Gate().wait()
            }
        }
        await gate.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

/// An actor that no manual context runs.
private actor Elsewhere {
    private let queue = GlobalContext().serial(named: "elsewhere")
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe queue.asUnownedSerialExecutor()
    }
    func one() -> Int { 1 }
}

/// A gate that tasks wait for, and that any thread may open.
final class Gate: @unchecked Sendable {
    // Unchecked: both are reached only under `lock`.
    private let lock = NSLock()
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = lock.withLock {
                if !self.isOpen { waiting.append(continuation) }
                return self.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = lock.withLock {
            isOpen = true
            defer { self.waiting = [] }
            return self.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    // Resumes the tasks of a gate that was never opened, so that no test leaks its task.
    deinit { for continuation in waiting { continuation.resume() } }
}

/// Async code of many kinds, which logs its steps.
private enum Script {
    actor Tower {
        var bells = 0
        func ring() async -> Int {
            bells += 1
            await Task.yield()
            return bells
        }
    }

    static func run() throws -> [Int] {
        let context = ManualContext()
        let log = Log()
        try context.drive {
            let tower = Tower()
            async let early: Void = {
                try await context.clock.sleep(for: .seconds(2))
                log.add(1)
            }()
            await withTaskGroup { group in
                for index in 10..<20 {
                    group.addTask {
                        await Task.yield()
                        log.add(index)
                        try? await context.clock.sleep(for: .milliseconds((index * 7) % 5))
                        log.add(100 + index)
                        if index % 3 == 0 { log.add(200 + (await tower.ring())) }
                    }
                }
            }
            for index in 0..<5 {
                await withCheckedContinuation { continuation in
                    context.schedule(after: .milliseconds(5 - index)) {
                        log.add(300 + index)
                        continuation.resume()
                    }
                }
            }
            for _ in 0..<8 { log.add(400 + (await tower.ring())) }
            try await early
        }
        try context.finish()
        return log.entries
    }
}
