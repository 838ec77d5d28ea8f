import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Law 10 for manual contexts: which object keeps which alive.
@Suite(.patient)
struct ManualLifetimeTests {
    @Test
    func `Law 10: a context is freed with its last reference, and a time with its last context`() {
        weak var context: ManualContext?
        weak var time: ManualTime?
        do {
            let (kept, shared) = (ManualTime(), ManualTime())
            let first = ManualContext(time: shared)
            first.execute {}
            first.schedule(after: .seconds(1)) {}
            first.advance(by: .seconds(1))
            (context, time) = (first, shared)
            _ = kept
        }
        #expect(context == nil)
        #expect(time == nil)
    }

    @Test func `Law 10: a ready job does not keep its context alive`() {
        weak var context: ManualContext?
        weak var capture: Farewell?
        do {
            let manual = ManualContext()
            let farewell = Farewell {}
            manual.execute { _ = farewell }
            (context, capture) = (manual, farewell)
        }
        #expect(context == nil)
        #expect(capture == nil)
    }

    @Test func `Law 10: while one thread submits, the one that runs the jobs frees them`()
        async throws
    {
        let context = ManualContext()
        let (over, strays) = (Promise<Void>(), Box(0))
        let thread = Thread {
            let submitter = ObjectIdentifier(Thread.current)
            // Made here, so that the loop itself never has what the job captures.
            func job() -> Work {
                let capture = Farewell {
                    guard ObjectIdentifier(Thread.current) == submitter else { return }
                    strays.withValue { $0 += 1 }
                }
                return { _ = capture }
            }
            for _ in 0..<rounds(debug: 400_000, release: 4_000_000) { context.execute(job()) }
            over.succeed(())
        }
        thread.start()
        // Each submission wakes it, so that it runs the job while the submitter returns.
        try await context.driveAsync(patience: Patience.event, limit: .max) {
            try await over.async.get()
        }
        context.runReady()
        // Kept, so that no other thread has its identity.
        withExtendedLifetime(thread) {}
        #expect(strays.value == 0)
    }

    @Test(arguments: [true, false])
    func `Law 10: nothing stays alive once pending work is dropped or cancelled`(
        _ isCancelled: Bool
    ) {
        weak var context: ManualContext?
        weak var capture: Farewell?
        do {
            let manual = ManualContext()
            let farewell = Farewell {}
            let delay = manual.serial(named: "view").schedule(after: .seconds(1)) {
                _ = (farewell, manual)
            }
            let repetition = manual.schedule(every: .seconds(1)) { _ = (farewell, manual) }
            manual.execute { _ = (farewell, manual) }
            if isCancelled {
                delay.cancel()
                repetition.cancel()
                manual.runReady()
            } else {
                #expect(throws: ManualFailure.self) { try manual.finish() }
            }
            (context, capture) = (manual, farewell)
        }
        #expect(context == nil)
        #expect(capture == nil)
    }

    @Test func `Law 10: a drive leaves nothing alive, whether it ends or is stuck`() {
        weak var context: ManualContext?
        weak var capture: Farewell?
        do {
            let manual = ManualContext()
            let farewell = Farewell {}
            try? manual.drive {
                async let other: Void = manual.clock.sleep(for: .seconds(1))
                try await other
                _ = farewell
            }
            let gate = Gate()
            try? manual.drive {
                await gate.wait()
                _ = farewell
            }
            gate.open()
            manual.runReady()
            (context, capture) = (manual, farewell)
        }
        #expect(context == nil)
        #expect(capture == nil)
    }

    @Test func `Law 10: a closure is released on the context that ran it, before the next job`() {
        let context = ManualContext()
        let log = Log()
        let farewell = Farewell { log.add(context.isCurrent == true ? 1 : -1) }
        context.execute { [farewell] in _ = farewell }
        context.execute { log.add(2) }
        _ = consume farewell
        context.runReady()
        #expect(log.entries == [1, 2])
    }

    @Test func `Law 1: a task whose context has finished runs on the global executor`() async {
        let task: Task<Int, Never>
        do {
            let context = ManualContext()
            task = Task(executorPreference: context.taskExecutor) { 2 }
            #expect(throws: ManualFailure.self) { try context.finish() }
        }
        #expect(await task.value == 2)
    }
}
