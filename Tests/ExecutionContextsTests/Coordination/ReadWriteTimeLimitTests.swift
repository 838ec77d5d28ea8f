import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Law 15 for the coordinator: a call with a limit runs its body, or returns nil.
@Suite(.patient)
struct ReadWriteTimeLimitTests {
    private static let none: [Duration] = [.zero, .seconds(-1), .seconds(Int64.min)]

    @Test func `Law 15: an access that can begin at once runs under every limit`() async {
        await watched {
            let coordinator = ReadWriteCoordinator()
            for round in 0..<300 {
                for limit in Self.none + [.nanoseconds(1), .seconds(1), .seconds(Int64.max)] {
                    #expect(coordinator.read(timeout: limit) { round } == round)
                    #expect(coordinator.blockingWrite(timeout: limit) { round } == round)
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `Law 15: beside a reader, reads with limits run and writes do not`(isBiased: Bool) async {
        await watched {
            let coordinator = ReadWriteCoordinator()
            if isBiased { coordinator.bringBias() }
            coordinator.read {
                onThreads([
                    {
                        for limit in Self.none {
                            #expect(coordinator.read(timeout: limit) { true } == true)
                            #expect(coordinator.blockingWrite(timeout: limit) { true } == nil)
                        }
                        expectWait { coordinator.blockingWrite(timeout: $0) { true } }
                        #expect(coordinator.read(timeout: .zero) { true } == true)
                    }
                ])
            }
            #expect(coordinator.blockingWrite(timeout: Patience.event) { true } == true)
        }
    }

    @Test func `Law 15: beside a writer no access with a limit runs`() async {
        await watched {
            let coordinator = ReadWriteCoordinator()
            coordinator.blockingWrite {
                onThreads([
                    {
                        for limit in Self.none {
                            #expect(coordinator.read(timeout: limit) { true } == nil)
                            #expect(coordinator.blockingWrite(timeout: limit) { true } == nil)
                        }
                        expectWait { coordinator.read(timeout: $0) { true } }
                        expectWait { coordinator.blockingWrite(timeout: $0) { true } }
                    }
                ])
            }
            #expect(coordinator.read(timeout: .zero) { true } == true)
            #expect(coordinator.blockingWrite(timeout: .zero) { true } == true)
        }
    }

    @Test func `Law 15: behind writes that have not run no access with a limit runs`() async {
        await watched {
            let context = ManualContext()
            let coordinator = ReadWriteCoordinator(writesOn: context)
            let value = Box(0)
            for round in 1...3 {
                coordinator.enqueueWrite { value.withValue { $0 += 1 } }
                for limit in Self.none {
                    #expect(coordinator.read(timeout: limit) { true } == nil)
                    #expect(coordinator.blockingWrite(timeout: limit) { true } == nil)
                }
                expectWait { coordinator.read(timeout: $0) { true } }
                expectWait { coordinator.blockingWrite(timeout: $0) { true } }
                #expect(value.value == round - 1)
                context.runReady()
                #expect(coordinator.read(timeout: .zero) { value.value } == round)
            }
        }
    }

    @Test func `Law 15: a call with an infinite limit waits until it can begin`() async {
        await watched {
            let coordinator = ReadWriteCoordinator()
            for limit in [Duration.seconds(Int64.max), .nanoseconds(Int64.max)] {
                let isInside = DispatchSemaphore(value: 0)
                let mayLeave = DispatchSemaphore(value: 0)
                let entered = Box(0)
                onThreads([
                    {
                        coordinator.blockingWrite {
                            isInside.signal()
                            mayLeave.wait()
                            #expect(entered.value == 0)
                        }
                    },
                    {
                        isInside.wait()
                        mayLeave.signal()
                        #expect(
                            coordinator.read(timeout: limit) { entered.withValue { $0 += 1 } }
                                != nil)
                    },
                    {
                        #expect(
                            coordinator.blockingWrite(timeout: Duration.seconds(Int64.max)) { 1 }
                                == 1)
                    },
                ])
            }
        }
    }

    @Test func `Law 15: when admission races with a deadline, the result tells if the body ran`()
        async
    {
        let room = ReadWriteRoom(writers: 3)
        let written = Box([0, 0, 0])
        let coordinator = ReadWriteCoordinator()
        let each = rounds(debug: 3_000, release: 100_000)
        await watched {
            onThreads(
                (0..<3).map { me in
                    {
                        var rng = SeededRNG(seed: UInt64(me))
                        var mine = 0
                        for _ in 0..<each {
                            let limit = Duration.nanoseconds(
                                rng.next(below: 4) * rng.next(below: 20_000))
                            if rng.next(below: 2) == 0 {
                                if coordinator.blockingWrite(timeout: limit, { room.write(me) })
                                    != nil
                                {
                                    mine += 1
                                }
                            } else if let seen = coordinator.read(timeout: limit, { room.read(me) })
                            {
                                room.expect(seen == mine, "wrote \(mine), read \(seen)")
                            }
                            if rng.next(below: 50) == 0 {
                                coordinator.enqueueWrite { room.write(me) }
                                mine += 1
                            }
                        }
                        written.withValue { $0[me] = mine }
                    }
                })
        }
        #expect(room.fault == nil)
        for me in 0..<3 { #expect(coordinator.read { room.read(me) } == written.value[me]) }
        #expect(coordinator.blockingWrite(timeout: .zero) { true } == true)
    }
}

/// Expects that a call with a limit returns nil, and not before its limit.
private func expectWait(_ attempt: (Duration) -> Bool?) {
    let limit = Duration.milliseconds(3)
    let start = ContinuousClock.now
    #expect(attempt(limit) == nil)
    #expect(ContinuousClock.now - start >= limit)
}
