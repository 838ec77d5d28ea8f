import ExecutionContextsTesting

// Enqueued reads and writes.
extension CoordinatorPrograms {
    private struct Missing: Error {}

    static let queues: [(String, Build)] = [
        (
            "an enqueued write that its thread reads, on its caller",
            { sim in
                let room = Room(writesOn: InlineContext())
                World.current.spawn("own") {
                    room.enqueue()
                    if room.read() == 0 { throw Missing() }
                }
                start(sim, { room.read() }, { room.write() })
                room.end(sim, writes: 2)
            }
        ),
        (
            "an enqueued write that its thread reads and may run",
            { sim in
                let room = Room()
                World.current.spawn("own") {
                    room.enqueue()
                    if room.read() == 0 { throw Missing() }
                }
                start(sim, { room.read() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "an enqueued write that its thread waits for",
            { sim in
                let room = Room(writesOn: ForeignContext())
                World.current.spawn("own") {
                    room.enqueue()
                    if room.read() == 0 { throw Missing() }
                }
                start(sim, { room.read() })
                room.end(sim, writes: 1)
            }
        ),
        (
            "enqueued writes and a writer",
            { sim in
                let room = Room(.counted)
                start(sim, { room.enqueue() }, { room.enqueue() }, { room.write() })
                room.end(sim, writes: 3)
            }
        ),
        (
            "a writer that runs the writes before it",
            { sim in
                let room = Room()
                start(
                    sim,
                    {
                        room.enqueue()
                        room.write()
                    }, { room.read() })
                room.end(sim, writes: 2)
            }
        ),
        (
            "an enqueued read between writes",
            { sim in
                let room = Room(writesOn: InlineContext())
                start(
                    sim,
                    {
                        room.enqueue()
                        room.coordinator.exclusion.enqueueRead { _ = room.count.value }
                        room.enqueue()
                    }, { room.write() })
                room.end(sim, writes: 3)
            }
        ),
    ]
}
