import ExecutionContextsTesting
internal import Synchronization

/// What threads do with a coordinator.
enum CoordinatorPrograms {
    typealias Build = @Sendable (SimulatedWorld) -> Void

    /// Each runs with the system's barrier for all threads and without.
    static let all: [Program] = (entering + nesting + queues + holds).flatMap { name, build in
        [false, true].map { isPortable in
            Program(
                description: name + (isPortable ? ", portable" : ""), isPortable: isPortable,
                build: build)
        }
    }

    static func named(_ name: String) -> Program? { all.first { $0.description == name } }

    /// Starts threads that run these bodies.
    static func start(_ sim: SimulatedWorld, _ bodies: (@Sendable () -> Void)...) {
        for (index, body) in bodies.enumerated() { World.current.spawn("thread \(index)", body) }
    }

    static let entering: [(String, Build)] = [
        (
            "a slot reader and a writer",
            { sim in
                let room = Room()
                start(sim, { room.read() }, { room.write() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "two reads and a writer",
            { sim in
                let room = Room()
                start(sim, { for _ in 0..<2 { room.read() } }, { room.write() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "two readers and two writers",
            { sim in
                let room = Room()
                let (reader, writer): (@Sendable () -> Void, @Sendable () -> Void) = (
                    { room.read() }, { room.write() }
                )
                start(sim, reader, writer, reader, writer)
                room.end(sim, writes: 2)
            }
        ),
        (
            "counted readers and a writer",
            { sim in
                let room = Room(.counted)
                start(sim, { room.read() }, { room.read() }, { room.write() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "two writers",
            { sim in
                let room = Room(.counted)
                start(sim, { room.write() }, { room.write() })
                room.end(sim, writes: 2)
            }
        ),
        (
            "the bias returns beside a writer",
            { sim in
                let room = Room(.almostBiased)
                start(sim, { for _ in 0..<2 { room.read() } }, { room.read() }, { room.write() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "a slot reader after a writer",
            { sim in
                let room = Room(.counted)
                start(
                    sim,
                    {
                        room.write()
                        // As many reads, which nothing else remembers. The next one brings the
                        // bias.
                        unsafe room.coordinator.admission.word.pointee.wrappingAdd(
                            Room.Start.almostBiased.rawValue, ordering: .relaxed)
                        room.read()
                    }, { room.read() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "callers that give up at once",
            { sim in
                let room = Room()
                start(
                    sim, { _ = room.coordinator.read(timeout: .zero) { room.count.value } },
                    {
                        let now: Void? = room.coordinator.blockingWrite(timeout: .zero) {
                            room.count.value += 1
                        }
                        if now == nil { room.write() }
                    }, { room.read() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "a reader whose thread ends",
            { sim in
                let room = Room()
                let reader: @Sendable () -> Void = {
                    room.read()
                    World.current.threads.end()
                }
                start(sim, reader, { room.write() }, reader)
                room.end(sim, writes: 1)
            }
        ),
    ]

    static let nesting: [(String, Build)] = [
        (
            "nested reads and a writer",
            { sim in
                let room = Room()
                start(sim, { room.coordinator.read { _ = room.read() } }, { room.write() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "a nested read that is the outer one of its coordinator",
            { sim in
                let room = Room()
                start(sim, { room.deepen(to: 2) { room.read() } }, { room.write() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "reads of two coordinators in one slot",
            { sim in
                let (room, other) = (Room(), Room(.counted))
                start(
                    sim,
                    {
                        room.deepen(to: 2) {
                            room.read()
                            other.read()
                        }
                    }, { room.write() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "a read in the first block of further slots",
            { sim in
                let room = Room()
                start(
                    sim,
                    {
                        for _ in 0..<2 { room.deepen(to: 9) { room.read() } }
                    }, { room.write() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "a read in the second block of further slots",
            { sim in
                let room = Room()
                start(sim, { room.deepen(to: 75) { room.read() } }, { room.write() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "a read and a write inside a write",
            { sim in
                let room = Room()
                start(
                    sim,
                    {
                        room.coordinator.blockingWrite {
                            room.write()
                            room.read()
                        }
                    }, { room.write() }, { room.read() })
                room.end(sim, writes: 2)
            }
        ),
        (
            "a write that is enqueued inside a read",
            { sim in
                let room = Room(writesOn: InlineContext())
                start(sim, { room.coordinator.read { room.enqueue() } }, { room.write() })
                room.end(sim, writes: 2)
            }
        ),
    ]
}
