import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Compares the task executor of every context with a plain one over a queue: the same script
/// gives the same log.
@Suite(.patient)
struct TaskExecutorBesideTests {
    private static let subjects: [Subject] =
        Subject.bases.filter { $0.make().drive == nil && $0.name != "main" }
        + Subject.views.filter {
            [
                "global, serial", "global, limited", "global, bounded refusing",
                "own serial queue, while valid",
            ]
            .contains($0.name)
        }

    @Test(arguments: TaskScript.all, subjects)
    func `A task behaves on a context as it does on a plain task executor`(
        _ script: TaskScript, _ subject: Subject
    ) async {
        let context = subject.make().context
        let queue = MarkedQueue()
        let theirs = await script.log(on: queue) { queue.isInside }
        // Law 4: nil means not known, and does not count as no.
        let ours = await script.log(on: context.taskExecutor) { context.isCurrent != false }
        #expect(ours == theirs)
    }
}

/// A program that a task runs, and logs what it sees.
struct TaskScript: Sendable, CustomTestStringConvertible {
    typealias Body = @Sendable (_ log: TaskLog) async -> Void
    let name: String
    private let body: Body

    var testDescription: String { name }

    init(_ name: String, _ body: @escaping Body) {
        self.name = name
        self.body = body
    }

    func log(on executor: any TaskExecutor, isInside: @escaping @Sendable () -> Bool) async
        -> [String]
    {
        let log = TaskLog(executor, isInside)
        await Task(executorPreference: executor) { [body] in await body(log) }.value
        return log.lines
    }
}

/// Text lines in the order in which they were noted, with whether the code was on the executor.
final class TaskLog: Sendable {
    let executor: any TaskExecutor
    private let isInside: @Sendable () -> Bool
    private let box = Box<[String]>([])

    init(_ executor: any TaskExecutor, _ isInside: @escaping @Sendable () -> Bool) {
        self.executor = executor
        self.isInside = isInside
    }

    var lines: [String] { box.value }
    func note(_ line: String) { box.withValue { $0.append(line) } }
    func noteInside(_ line: String) { note("\(line): on the executor \(isInside())") }
}

extension TaskScript {
    static let all = [
        yields, children, group, actors, cancelled, locals, nested, continuations, detached, stream,
    ]

    static let yields = TaskScript("Yields and stays") { log in
        for round in 0..<5 {
            log.noteInside("round \(round)")
            await Task.yield()
        }
    }

    static let children = TaskScript("async let") { log in
        async let one = { () async -> Int in
            log.noteInside("child")
            return 1
        }()
        let value = await one
        log.noteInside("value \(value)")
    }

    static let group = TaskScript("A task group") { log in
        let sum = await withTaskGroup(of: Int.self) { group in
            for index in 0..<20 {
                group.addTask {
                    await Task.yield()
                    return index
                }
            }
            return await group.reduce(0, +)
        }
        log.noteInside("sum \(sum)")
    }

    private actor Counter {
        var count = 0
        func add(_ log: TaskLog) -> Int {
            count += 1
            // A default actor runs on the executor that the task prefers.
            log.noteInside("in the actor")
            return count
        }
    }

    static let actors = TaskScript("A default actor, and the main actor and back") { log in
        let counter = Counter()
        for _ in 0..<3 { log.noteInside("count \(await counter.add(log))") }
        let onMain = await MainActor.run { MainContext().isCurrent == true }
        log.noteInside("was on main \(onMain)")
    }

    static let cancelled = TaskScript("Cancelled while it waits") { log in
        let task = Task(executorPreference: log.executor) {
            do {
                let clock = ContinuousClock()
                try await clock.sleep(for: .seconds(3600))
                log.note("slept")
            } catch {
                log.noteInside(
                    "threw CancellationError \(error is CancellationError), cancelled \(Task.isCancelled)"
                )
            }
        }
        task.cancel()
        await task.value
        log.noteInside("cancelled \(Task.isCancelled)")
    }

    @TaskLocal private static var local = 0

    static let locals = TaskScript("Task-locals") { log in
        await $local.withValue(7) {
            log.noteInside("local \(local)")
            async let child = local
            log.note("child \(await child)")
            await Task(executorPreference: log.executor) { log.noteInside("task \(local)") }.value
        }
        log.note("after \(local)")
    }

    static let nested = TaskScript("Another executor inside, and back") { log in
        let other = MarkedQueue()
        let isOnOther = await withTaskExecutorPreference(other) {
            await Task.yield()
            return other.isInside
        }
        log.noteInside("was on the other \(isOnOther)")
        await withTaskExecutorPreference(log.executor) {
            await Task.yield()
            log.noteInside("preferred again")
        }
    }

    static let continuations = TaskScript("Continuations resumed on another thread") { log in
        for round in 0..<5 {
            let value = await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: round) }
            }
            log.noteInside("resumed with \(value)")
        }
    }

    static let detached = TaskScript("An unstructured task and its priority") { log in
        let priority = await Task(executorPreference: log.executor, priority: .high) {
            Task.currentPriority
        }
        .value
        log.note("high \(priority == .high)")
        let error = await Task(executorPreference: log.executor) { throw CancellationError() }
            .result
        if case .failure = error { log.noteInside("threw") }
    }

    static let stream = TaskScript("A stream") { log in
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        DispatchQueue.global().async {
            for index in 0..<5 { continuation.yield(index) }
            continuation.finish()
        }
        for await value in stream { log.noteInside("value \(value)") }
    }
}

/// A minimal task executor over a dispatch queue, which knows whether it is current.
final class MarkedQueue: TaskExecutor {
    private static let key = DispatchSpecificKey<ObjectIdentifier>()
    private let queue = DispatchQueue(label: "plain", attributes: .concurrent)

    init() { queue.setSpecific(key: Self.key, value: ObjectIdentifier(queue)) }

    var isInside: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(queue) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // Unsafe only if run twice; a queue runs a block once.
        queue.async { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
