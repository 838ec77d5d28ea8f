import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Measuring
import TestSupport
import Testing

/// A request of a queue that runs one job after the other on a thread of `.global` or `.pool`.
@Suite(.patient)
struct PrioritizedQueueRequestTests {
    @Test(arguments: [true, false])
    func `Law 3: no job of a request has the hold of a job before it`(_ onPool: Bool) async {
        await offThePool {
            let queue =
                onPool ? PrioritizedQueue(on: .pool, limit: 1) : .init(on: .global, limit: 1)
            let held = GlobalContext().serial(named: "held")
            let (kept, faults) = (KeptHold(), Box(0))
            queue.suspend()
            queue.execute {
                kept.hold = held.hold()
                if held.isCurrent != true { faults.withValue { $0 += 1 } }
            }
            for _ in 0..<50 {
                queue.execute { if held.isCurrent == true { faults.withValue { $0 += 1 } } }
            }
            let last = queue.submit(priority: .lowest) {}
            queue.resume()
            _ = try? last.async.wait()
            #expect(faults.value == 0)
            kept.hold = nil
        }
    }

    @Test func `A request gives its thread back after 256 jobs, and another one goes on`() {
        let base = ReliableDrivenBase(.inOrder, seed: 1)
        let queue = PrioritizedQueue(on: base, limit: 1)
        let count = Box(0)
        queue.suspend()
        for _ in 0..<1_000 { queue.execute { count.withValue { $0 += 1 } } }
        queue.resume()
        var steps = 0
        while !base.isIdle {
            base.step()
            steps += 1
            #expect(count.value <= 256 * steps)
            #expect(queue.runningCount == (base.isIdle ? 0 : 1))
        }
        #expect(steps >= 4)
        #expect(count.value == 1_000)
    }

    @Test func `Law 32: a notified caller may wait for the next job`() async {
        await offThePool {
            let queue = PrioritizedQueue(on: .global, limit: 1)
            queue.suspend()
            let (first, second) = (queue.submit { 1 }, queue.submit { 2 })
            let seen = Box<Int?>(nil)
            let done = DispatchSemaphore(value: 0)
            first.async.onComplete { _ in
                seen.value = try? second.async.wait()
                done.signal()
            }
            queue.resume()
            done.wait()
            #expect(seen.value == 2)
        }
    }

    @Test func `An Async that is asked for late has the outcome, and all copies have the same one`()
        throws
    {
        struct Failure: Error {}
        let queue = PrioritizedQueue(on: .immediate, limit: 1)
        let (good, bad) = (
            queue.submit { "wren" }, queue.submit { () throws -> Int in throw Failure() }
        )
        #expect(try good.async.outcome?.get() == "wren")
        #expect(throws: Failure.self) { try bad.async.outcome?.get() }
        let copy = good
        let called = Box(0)
        copy.async.onSuccess { _ in called.withValue { $0 += 1 } }
        #expect(called.value == 1)
        #expect(!good.async.cancel())
        #expect(!good.cancel())
    }

    @Test(arguments: [false, true])
    func `A value comes through as it is, whatever its type`(_ asksEarly: Bool) {
        let queue = PrioritizedQueue(on: .immediate, limit: 1)
        func outcome<Value: Sendable>(_ value: Value) -> Value? {
            queue.suspend()
            let work = queue.submit { value }
            let early = asksEarly ? work.async : nil
            queue.resume()
            return try? (early ?? work.async).outcome?.get()
        }
        #expect(outcome(Int??.some(nil)) == .some(.some(nil)))
        #expect(outcome(Int??.none) == .some(.none))
        #expect(outcome([1, nil] as [Int?]) == [1, nil])
        #expect(outcome(()) != nil)
        let large = (1, 2, 3, 4, "five")
        #expect(outcome(large).map { $0 == large } == true)
        #expect(outcome(CancellationError() as any Error) is CancellationError)
        #expect(outcome({ 7 } as @Sendable () -> Int)?() == 7)
    }

    @Test func `Law 10: the value of a job whose Async nobody asks for is freed with the job`() {
        let queue = PrioritizedQueue(on: .immediate, limit: 1)
        let freed = Box(false)
        queue.submit { Lab.DeinitAction { freed.value = true } }
        #expect(freed.value)
    }

    @Test func `A pending job costs few bytes`() async {
        await #expect(processExitsWith: .success) {
            let count = 16_384
            let queue = PrioritizedQueue(on: .global, limit: 0)
            let start = allocatedBytes()
            for _ in 0..<count { queue.execute {} }
            let plain = (allocatedBytes() - start) / count
            let between = allocatedBytes()
            for _ in 0..<count { queue.submit {} }
            let answers = (allocatedBytes() - between) / count
            print("\(plain) and \(answers) bytes")
            precondition(plain <= 70, "\(plain) bytes a job")
            precondition(answers <= 340, "\(answers) bytes a job with an answer")
        }
    }

    // MARK: - Schedules

    @Test(arguments: [1, 2])
    func `Laws 32, 33: under every schedule jobs of .global run once, within the limit`(
        _ limit: Int
    ) async {
        await underEverySchedule("requests on .global") { sim, onlooker in
            let queue = PrioritizedQueue(on: .global, limit: limit)
            for name in ["a", "b"] {
                sim.spawn(name) {
                    queue.execute { onlooker.visit(atMost: limit) }
                    let work = queue.submit(priority: .high) { onlooker.visit(atMost: limit) }
                    queue.submitOpen(of: Int.self, priority: .low) { open in
                        onlooker.visit(atMost: limit)
                        sim.spawn("ends \(name)") { open.succeed(1) }
                    }
                    if name == "b" {
                        work.priority = .lowest
                        if work.cancel() { onlooker.note("cancelled") }
                    }
                    _ = try? work.async.wait()
                }
            }
            sim.finally("each ran or was cancelled") {
                onlooker.count("visit") + onlooker.count("cancelled") == 6
            }
            sim.finally("nothing is left") { queue.pendingCount + queue.runningCount == 0 }
        }
    }

    @Test func `Laws 32, 33: in no order of its steps a small program loses a job or an outcome`()
        async
    {
        await offThePool {
            let report = search(
                "a job and its Async", schedules: 200_000, strategy: .exhaustive,
                patience: Patience.step
            ) { sim in
                let queue = PrioritizedQueue(on: .global, limit: 1)
                let (ran, cancelled, outcomes) = (
                    Tracked(0, name: "ran"), Tracked(0, name: "cancelled"),
                    Tracked(0, name: "outcomes")
                )
                let work = queue.submit { ran.value += 1 }
                sim.spawn("cancels") {
                    if work.cancel() { cancelled.value += 1 }
                }
                work.async.onComplete { _ in outcomes.value += 1 }
                sim.finally("one of the two") { ran.value + cancelled.value == 1 }
                sim.finally("one outcome") { outcomes.value == 1 }
                sim.finally("nothing is left") { queue.pendingCount + queue.runningCount == 0 }
            }
            #expect(report.failure == nil)
            #expect(report.isComplete, "\(report.schedules) schedules")
        }
    }
}

/// Keeps a hold beyond the job that made it.
private final class KeptHold: @unchecked Sendable {
    // Unchecked: the first job writes it, and the test clears it after the last one.
    var hold: ExclusiveHold?
}
