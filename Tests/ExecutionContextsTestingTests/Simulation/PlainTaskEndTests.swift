import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// What ends a simulation from outside, or with the process.
@Suite(.patient)
struct PlainTaskEndTests {
    @Test func `Law 33: a task that a thread of the system resumes has left`() async {
        var kinds: Set<SimulationFailure.Kind?> = []
        // A thread that is late is not waited for, and one that is early has resumed nothing yet.
        while !kinds.contains(.foreign) && kinds.count < 3 {
            let report = await search("left", schedules: 20, ignoring: [.vacuous]) { _ in
                await withCheckedContinuation { next in
                    onThreadOutside { next.resume() }
                }
            }
            kinds.insert(report.failure?.kind)
            #expect([.foreign, .lostWakeUp, .nondeterminism, nil].contains(report.failure?.kind))
            if report.failure?.kind == .foreign {
                #expect(report.failure?.happened.contains("was resumed by a thread") == true)
            }
        }
        #expect(kinds.contains(.foreign), "\(kinds)")
    }

    @Test func `Law 33: a task that has left while others run is named`() async {
        let report = await search("alice left", schedules: 1, steps: 100_000_000) { _ in
            let desk = Desk()
            let alice = Task(name: "alice") { await desk.wait() }
            // A call enters the actor when alice is suspended, not before.
            var waiting = await desk.taken()
            while waiting == nil {
                await Task.yield()
                waiting = await desk.taken()
            }
            let isResumed = Box(false)
            onThreadOutside { [waiting] in
                waiting?.resume()
                isResumed.value = true
            }
            while !isResumed.value { await Task.yield() }
            _ = alice
        }
        #expect(report.failure?.kind == .foreign, "\(report)")
        #expect(report.description.contains("The task 'alice'"), "\(report)")
    }

    private actor Desk {
        private var waiting: CheckedContinuation<Void, Never>?

        func wait() async {
            await withCheckedContinuation { waiting = $0 }
        }

        func taken() -> CheckedContinuation<Void, Never>? { waiting }
    }

    @Test func `Law 33: a task that sleeps beyond the horizon is told`() async {
        let report = await search("long", horizon: .seconds(60)) { _ in
            try await Task.sleep(for: .seconds(61))
        }
        #expect(report.failure?.kind == .leftover)
        #expect(report.failure?.happened.contains("'horizon'") == true)
        #expect(report.failure?.happened.contains("Nothing is left") == false)
    }

    @Test func `Law 33: a task that blocks its thread is named`() async {
        for patience in Patience.hangs {
            let isOver = DispatchSemaphore(value: 0)
            let report = await search("blocked", patience: patience) { _ in
                await Task(name: "uploader") { Self.wait(for: isOver) }.value
            }
            isOver.signal()
            #expect(report.failure?.kind == .blocked)
            if report.failure?.happened.contains("'uploader'") == true { return }
        }
        Issue.record("The blocked task was never named.")
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test func `Law 33: what grows from schedule to schedule is no finding of one`() async {
        let runs = Locked(0)
        struct Full: Error {}
        let report = await search("grows", schedules: 100, ignoring: [.vacuous]) { _ in
            let run = runs.withLock { runs in
                runs += 1
                return runs
            }
            await Task.yield()
            if run > 20 { throw Full() }
        }
        #expect(report.failure?.kind == .nondeterminism)
        #expect(report.failure?.token == nil)
    }

    @Test func `Law 33: a trap tells its schedule`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = await search("trap") { _ in
                let twice = Task {
                    await withCheckedContinuation { (next: CheckedContinuation<Void, Never>) in
                        Task { next.resume() }
                        Task { next.resume() }
                    }
                }
                await twice.value
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Simulation 'trap' trapped"))
        #expect(text.contains("EXECUTION_CONTEXTS_REPLAY="))
    }
}
