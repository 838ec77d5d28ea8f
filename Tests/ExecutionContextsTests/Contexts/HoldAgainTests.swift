import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Holds that outlive their holders.
final class Kept: @unchecked Sendable {
    // Unchecked: filled and emptied by one thread at a time, in an order that the test ensures.
    private var first: ExclusiveHold?
    private var second: ExclusiveHold?

    func keep(_ hold: consuming ExclusiveHold) {
        if first == nil { first = consume hold } else { second = consume hold }
    }

    func release() {
        first.take()?.release()
        second.take()?.release()
    }
}

/// A hold that another thread releases while its holder holds again (law 28).
@Suite(.patient)
struct HoldAgainTests {
    @Test(arguments: 0..<3)
    func
        `Law 28: under every schedule, a second hold survives another thread's release of the first`(
            _ kind: Int
        ) async
    {
        await underEverySchedule("hold again", schedules: 500) { sim, onlooker in
            let context: any SynchronousBarrierContext =
                switch kind {
                case 0: sim.global.serial(named: "view")
                case 1: ReadWriteCoordinator(name: "c", writesOn: sim.global).writing
                default: ReadWriteCoordinator(over: sim.global.serial(named: "base")).writing
                }
            let kept = Kept()
            let isKept = Promise<Void>()
            sim.spawn("holds") {
                kept.keep(context.hold())
                isKept.succeed(())
                let again = context.hold()
                onlooker.expect(context.isCurrent == true, "it is not held")
                onlooker.visit("held again")
                again.release()
            }
            sim.spawn("ends") {
                try isKept.async.wait()
                kept.release()
            }
            sim.spawn("waits") { context.sync { onlooker.visit("inside") } }
        }
    }

    @Test(arguments: 0..<3)
    func
        `Law 28: under every schedule, an access inside a hold keeps it while another thread ends it`(
            _ kind: Int
        ) async
    {
        await underEverySchedule("access inside a hold", schedules: 500) { sim, onlooker in
            let context: any SynchronousBarrierContext =
                switch kind {
                case 0: sim.global.serial(named: "view")
                case 1: ReadWriteCoordinator(name: "c", writesOn: sim.global).writing
                default: ReadWriteCoordinator(over: sim.global.serial(named: "base")).writing
                }
            let kept = Kept()
            let isKept = Promise<Void>()
            sim.spawn("holds") {
                kept.keep(context.hold())
                isKept.succeed(())
                context.sync { onlooker.visit("inside the hold") }
            }
            sim.spawn("ends") {
                try isKept.async.wait()
                kept.release()
            }
            sim.spawn("waits") { context.sync { onlooker.visit("inside") } }
        }
    }

    static let held: [Subject] = [
        Subject("serial view") { GlobalContext().serial() },
        Subject("serial queue") { .serial(named: "held") },
        Subject("barrier queue") { .barrier(named: "held") },
        Subject("coordinator") { ReadWriteCoordinator().writing },
        Subject("over a queue") { ReadWriteCoordinator(over: .barrier(named: "held")).writing },
    ]

    static let ways: [@Sendable (any SynchronousBarrierContext, () -> Void) -> Void] = [
        { context, body in context.sync(body) }, { context, body in context.syncBarrier(body) },
    ]

    @Test(arguments: held + [Subject("main") { .main }])
    func `Law 28: a closure that releases the hold in which it runs keeps other callers out`(
        _ subject: Subject
    ) async throws {
        let context = try #require(subject.make().context as? any SynchronousBarrierContext)
        let faults = Box(0)
        await offThePool {
            for way in Self.ways {
                let kept = Kept()
                let isInside = Box(false)
                kept.keep(context.hold())
                way(context) {
                    kept.release()
                    context.executeBarrier { isInside.value = true }
                    // Other threads have had the time to run a job, and none of this context.
                    for _ in 0..<20 { onThreads(2) { _ in GlobalContext().serial().sync {} } }
                    if isInside.value { faults.withValue { $0 += 1 } }
                }
                context.sync {}
                if !isInside.value { faults.withValue { $0 += 1 } }
            }
        }
        #expect(faults.value == 0)
    }

    @Test(arguments: held)
    func `Law 28: on real threads, a second hold survives another thread's release of the first`(
        _ subject: Subject
    ) async throws {
        let context = try #require(subject.make().context as? any SynchronousBarrierContext)
        let (occupants, faults) = (Box(0), Box(0))
        @Sendable func occupy() {
            let entered = occupants.withValue { count in (count, count += 1).0 }
            let left = occupants.withValue { count in (count, count -= 1).0 }
            if (entered, left) != (0, 1) { faults.withValue { $0 += 1 } }
        }
        await offThePool {
            let kept = (0..<5_000).map { _ in Kept() }
            let handed = Atomic<Int>(0)
            let (isOver, over) = (Box(false), DispatchSemaphore(value: 0))
            // Spins, so that the release comes at the moment when the holder holds again.
            Thread.detachNewThread {
                for (number, kept) in kept.enumerated() {
                    while handed.load(ordering: .acquiring) <= number {}
                    kept.release()
                }
                over.signal()
            }
            Thread.detachNewThread {
                while !isOver.value { context.syncBarrier { occupy() } }
                over.signal()
            }
            for (number, kept) in kept.enumerated() {
                kept.keep(context.hold())
                handed.store(number + 1, ordering: .releasing)
                for _ in 0..<number % 400 { _ = handed.load(ordering: .relaxed) }
                let again = context.hold()
                if context.isCurrent != true { faults.withValue { $0 += 1 } }
                occupy()
                again.release()
            }
            isOver.value = true
            over.wait()
            over.wait()
        }
        #expect(faults.value == 0)
    }
}
