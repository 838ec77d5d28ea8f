import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The shipped coordinator under hundreds of schedules. A token replays each of them.
@Suite(.patient)
struct ReadWriteScheduleTests {
    /// A write context whose jobs one simulated thread runs. Other threads may register as being on
    /// it.
    private final class Pump: Sendable {
        private let jobs = Box<[Work]>([])
        private let joined = Box<Set<UInt32>>([])
        private let remaining: Box<Int>

        init(for bodies: Int) { remaining = Box(bodies) }

        var context: ClosureContext {
            let joined = joined
            let jobs = jobs
            return ClosureContext(
                name: "pump",
                isCurrent: { joined.value.contains(SimulationHooks.thread) ? true : nil }
            ) {
                work in jobs.withValue { $0.append(work) }
            }
        }

        /// Registers the calling thread as being on the write context, so that it helps.
        func join() { _ = joined.withValue { $0.insert(SimulationHooks.thread) } }

        func bodyEnded() { remaining.withValue { $0 -= 1 } }

        /// Runs jobs until all bodies have ended and no job is queued.
        func run(_ sim: SimulatedWorld) {
            while true {
                let work = jobs.withValue { $0.isEmpty ? nil : $0.removeFirst() }
                if let work { work() } else if remaining.value == 0 { return }
                sim.yield()
            }
        }
    }

    /// Simulates `programs` programs under some schedules. `make` makes a program from its number.
    private func explore(
        _ name: String, schedules: Int = rounds(debug: 150, release: 800), programs: Int = 1,
        _ make:
            @escaping @Sendable (_ program: UInt64, SimulatedWorld) -> (
                ReadWriteRoom, [@Sendable () -> Void]
            )
    ) async {
        let failure = Box<SimulationFailure?>(nil)
        await watched {
            for program in 0..<UInt64(programs) where failure.value == nil {
                failure.value =
                    search(
                        "\(name) \(program)", schedules: schedules / programs, time: .racing,
                        seed: program,
                        patience: Patience.step
                    ) { sim in
                        let (room, bodies) = make(program, sim)
                        for (index, body) in bodies.enumerated() {
                            sim.spawn("thread \(index)", body)
                        }
                        sim.finally("nothing is wrong") {
                            if let fault = room.fault { throw Wrong(what: fault) }
                            return true
                        }
                    }.failure
            }
        }
        #expect(failure.value == nil)
    }

    private struct Wrong: Error { let what: String }

    @Test
    func `Laws 17, 33: under every schedule slot readers and a blocking writer exclude each other`()
        async
    {
        await explore("slot readers and a writer") { _, sim in
            let room = ReadWriteRoom { sim.step() }
            let coordinator = ReadWriteCoordinator(writesOn: .immediate)
            coordinator.bringBias()
            let reader: @Sendable () -> Void = {
                for _ in 0..<3 { coordinator.read { _ = room.read() } }
            }
            let writer: @Sendable () -> Void = {
                for _ in 0..<2 { coordinator.blockingWrite { room.write() } }
            }
            return (room, [reader, reader, writer])
        }
    }

    @Test func `Laws 17, 33: under every schedule a thread reads its own enqueued writes`() async {
        await explore("own writes", programs: 2) { seed, sim in
            let room = ReadWriteRoom(writers: 3) { sim.step() }
            let pump = Pump(for: 3)
            let isInline = seed % 2 == 0
            let coordinator =
                isInline
                ? ReadWriteCoordinator(writesOn: .immediate)
                : ReadWriteCoordinator(writesOn: pump.context)
            coordinator.bringBias()
            let bodies: [@Sendable () -> Void] = (0..<3).map { me in
                {
                    for round in 1...2 {
                        coordinator.read { _ = room.read(me) }
                        coordinator.enqueueWrite { room.write(me) }
                        let seen = coordinator.read { room.read(me) }
                        room.expect(seen == round, "\(me) wrote \(round) and read \(seen)")
                    }
                    pump.bodyEnded()
                }
            }
            return (room, bodies + [{ pump.run(sim) }])
        }
    }

    @Test
    func `Laws 17, 20, 33: under every schedule a helper that cannot help passes its wake-up on`()
        async
    {
        await explore("useless helper") { _, sim in
            let room = ReadWriteRoom { sim.step() }
            let pump = Pump(for: 3)
            let coordinator = ReadWriteCoordinator(writesOn: pump.context)
            return (
                room,
                [
                    {
                        coordinator.read { _ = room.read() }
                        pump.bodyEnded()
                    },
                    {
                        coordinator.enqueueWrite { room.write() }
                        coordinator.blockingWrite { room.write() }
                        pump.bodyEnded()
                    },
                    {
                        pump.join()
                        coordinator.enqueueWrite { room.write() }
                        coordinator.read { _ = room.read() }
                        pump.bodyEnded()
                    },
                    { pump.run(sim) },
                ]
            )
        }
    }

    @Test
    func `Laws 15, 17, 33: under every schedule a writer that times out affects no other caller`()
        async
    {
        await explore("giving up", schedules: rounds(debug: 200, release: 1_500)) { _, sim in
            let room = ReadWriteRoom { sim.step() }
            let pump = Pump(for: 4)
            let coordinator = ReadWriteCoordinator(writesOn: pump.context)
            return (
                room,
                [
                    {
                        coordinator.enqueueWrite { room.write() }
                        coordinator.blockingWrite { room.write() }
                        pump.bodyEnded()
                    },
                    {
                        pump.join()
                        coordinator.enqueueWrite { room.write() }
                        coordinator.blockingWrite { room.write() }
                        pump.bodyEnded()
                    },
                    {
                        for _ in 0..<2 { coordinator.enqueueWrite { room.write() } }
                        coordinator.blockingWrite(timeout: .microseconds(30)) { room.write() }
                        pump.bodyEnded()
                    },
                    {
                        for _ in 0..<3 { coordinator.enqueueWrite { room.write() } }
                        coordinator.read { _ = room.read() }
                        pump.bodyEnded()
                    },
                    { pump.run(sim) },
                ]
            )
        }
    }

    @Test(arguments: [false, true])
    func `Laws 15, 17, 18, 33: under every schedule mixed accesses end, and lose no write`(
        isTimed: Bool
    )
        async
    {
        await explore(
            "mixed bag \(isTimed)", schedules: rounds(debug: 120, release: 3_000),
            programs: rounds(debug: 12, release: 200)
        ) { seed, sim in
            let count = 3 + Int(seed % 2)
            let room = ReadWriteRoom(writers: count) { sim.step() }
            let pump = Pump(for: count)
            let coordinator =
                seed % 5 == 0
                ? ReadWriteCoordinator(writesOn: .immediate)
                : ReadWriteCoordinator(writesOn: pump.context)
            if seed % 3 != 0 { coordinator.bringBias() }
            let bodies: [@Sendable () -> Void] = (0..<count).map { me in
                {
                    if (seed >> UInt64(me)) % 3 == 0 { pump.join() }
                    var rng = SeededRNG(seed: seed &* 31 &+ UInt64(me))
                    var mine = 0
                    for _ in 0..<4 {
                        let limit =
                            isTimed ? Duration.microseconds(rng.next(below: 60)) : .seconds(Int.max)
                        switch rng.next(below: 7) {
                        case 6:
                            let expected = mine
                            coordinator.reading.enqueue {
                                let seen = room.read(me)
                                room.expect(
                                    seen == expected,
                                    "\(me) wrote \(expected), its read sees \(seen)")
                            }
                        case 0:
                            let seen = coordinator.read { room.read(me) }
                            room.expect(seen == mine, "\(me) wrote \(mine) and read \(seen)")
                        case 1:
                            coordinator.read {
                                sim.step()
                                let seen = coordinator.read { room.read(me) }
                                room.expect(seen == mine, "\(me) wrote \(mine) and read \(seen)")
                                coordinator.enqueueWrite { room.write(me) }
                                room.expect(room.read(me) == mine, "a write ran inside a read")
                            }
                            mine += 1
                        case 2:
                            coordinator.enqueueWrite { room.write(me) }
                            mine += 1
                        case 3:
                            coordinator.blockingWrite { coordinator.read { room.write(me) } }
                            mine += 1
                        case 4:
                            let seen = coordinator.read(timeout: limit) { room.read(me) } ?? mine
                            room.expect(seen == mine, "\(me) wrote \(mine) and read \(seen)")
                        default:
                            if coordinator.blockingWrite(timeout: limit, { room.write(me) }) != nil
                            {
                                mine += 1
                            }
                        }
                    }
                    let seen = coordinator.read { room.read(me) }
                    room.expect(seen == mine, "\(me) wrote \(mine) and read \(seen) in the end")
                    pump.bodyEnded()
                }
            }
            return (room, bodies + [{ pump.run(sim) }])
        }
    }
}
