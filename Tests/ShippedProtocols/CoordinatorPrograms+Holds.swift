import ExecutionContextsTesting

// Holds of threads and tasks.
extension CoordinatorPrograms {
    /// What an owner has to itself.
    private final class Owned: Sendable {
        let owner = ExclusiveOwner()
        let count = Shared(0, name: "count")
    }

    /// Runs `body` as a task.
    private static func asTask(_ body: () -> Void) {
        World.current.threads.task = 16
        body()
        World.current.threads.task = nil
    }

    static let holds: [(String, Build)] = [
        (
            "a hold of a thread beside a writer and a reader",
            { sim in
                let room = Room()
                start(
                    sim,
                    {
                        let hold = room.hold()
                        room.count.value += 1
                        hold.release()
                    }, { room.write() }, { room.read() })
                room.end(sim, writes: 2)
            }
        ),
        (
            "a hold of a task that ends on another thread",
            { sim in
                let room = Room(.counted)
                start(
                    sim,
                    {
                        asTask {
                            let hold = room.hold()
                            room.count.value += 1
                            World.current.spawn("later") {
                                asTask {
                                    room.write()
                                    hold.release()
                                }
                            }
                        }
                    }, { room.write() })
                room.end(sim, writes: 3)
            }
        ),
        (
            "two holds of a task, which end on two threads",
            { sim in
                let room = Room(.counted)
                start(
                    sim,
                    {
                        asTask {
                            let (hold, other) = (room.hold(), room.hold())
                            World.current.spawn("other") {
                                room.beside.value += 1
                                other.release()
                            }
                            room.count.value += 1
                            hold.release()
                        }
                    },
                    {
                        room.coordinator.blockingWrite {
                            room.count.value += 1
                            room.beside.value += 1
                        }
                    })
                room.end(sim, writes: 2)
            }
        ),
        (
            "a hold that is taken again while it ends",
            { sim in
                let room = Room(.counted)
                start(
                    sim,
                    {
                        asTask {
                            let hold = room.hold()
                            World.current.spawn("other") {
                                room.beside.value += 1
                                hold.release()
                            }
                            let again = room.hold()
                            room.count.value += 1
                            again.release()
                        }
                    },
                    {
                        let hold = room.hold()
                        room.count.value += 1
                        hold.release()
                    })
                room.end(sim, writes: 2)
            }
        ),
        (
            "a hold that is taken again when the next owner has begun",
            { sim in
                let room = Room(.counted)
                start(
                    sim,
                    {
                        asTask {
                            let hold = room.hold()
                            World.current.spawn("next") {
                                hold.release()
                                let next = room.hold()
                                room.count.value += 1
                                next.release()
                            }
                            let again = room.hold()
                            room.count.value += 1
                            again.release()
                        }
                    })
                room.end(sim, writes: 2)
            }
        ),
        (
            "an owner that goes on when the next one has begun",
            { sim in
                let room = Owned()
                start(
                    sim,
                    {
                        asTask {
                            room.owner.begin()
                            World.current.spawn("next") {
                                guard room.owner.end() else { return }
                                room.owner.begin()
                                room.count.value += 1
                                _ = room.owner.end()
                            }
                            guard room.owner.holdAgain() else { return }
                            room.count.value += 1
                            _ = room.owner.end()
                        }
                    })
            }
        ),
        (
            "a write inside a hold that ends meanwhile",
            { sim in
                let room = Room(.counted)
                start(
                    sim,
                    {
                        asTask {
                            let hold = room.hold()
                            World.current.spawn("other") { hold.release() }
                            room.write()
                        }
                    }, { room.write() })
                room.end(sim, writes: 2)
            }
        ),
        (
            "a read inside a hold that ends meanwhile",
            { sim in
                let room = Room(.counted)
                start(
                    sim,
                    {
                        asTask {
                            let hold = room.hold()
                            World.current.spawn("other") { hold.release() }
                            room.read()
                        }
                    }, { room.write() })
                room.end(sim, writes: 1)
            }
        ),
    ]
}
