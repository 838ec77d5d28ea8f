import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// All operations at once, on several coordinators, from threads and tasks, with checks in each.
@Suite(.patient)
struct ReadWriteMixTests {
    /// Coordinators, each with the room that it guards.
    private struct Rooms: Sendable {
        let coordinators: [ReadWriteCoordinator]
        let rooms: [ReadWriteRoom]

        init(writers: Int) {
            let writeContexts: [any ExecutionContext] = [
                .global, .global, .global.serial(), .immediate,
                ClosureContext(name: "drops") { _ in },
            ]
            coordinators = writeContexts.map { ReadWriteCoordinator(writesOnAny: $0) }
            rooms = writeContexts.map { _ in ReadWriteRoom(writers: writers) }
        }

        var count: Int { rooms.count }
        var fault: String? { rooms.lazy.compactMap(\.fault).first }

        func checkRead(_ index: Int, _ me: Int, _ mine: [Int]) {
            let seen = rooms[index].read(me)
            rooms[index].expect(
                seen == mine[index], "\(me) wrote \(mine[index]) and read \(seen) in \(index)")
        }

        /// Nests reads of random coordinators and of those in `outer`, which the caller is in.
        ///
        /// A coordinator that is not in `outer` yet has a higher index than those in it. In any
        /// other order, two threads could wait for each other while writes wait at both, as with
        /// any locks.
        func nest(
            _ me: Int, _ mine: [Int], _ rng: inout SeededRNG, from least: Int = 0, outer: [Int] = []
        ) {
            let isNew = outer.isEmpty || rng.next(below: 3) == 0
            let index =
                isNew ? least + rng.next(below: count - least) : outer[rng.next(below: outer.count)]
            coordinators[index].read {
                checkRead(index, me, mine)
                if outer.count < 12, index + 1 < count || rng.next(below: 4) > 0 {
                    nest(
                        me, mine, &rng, from: min(max(least, index), count - 1),
                        outer: outer + [index])
                }
            }
        }

        /// Performs one operation; `mine` counts the writes of the caller.
        func step(_ me: Int, _ mine: inout [Int], _ rng: inout SeededRNG) {
            let index = rng.next(below: count)
            let (coordinator, room) = (coordinators[index], rooms[index])
            switch rng.next(below: 20) {
            case 0, 1:
                coordinator.enqueueWrite { room.write(me) }
                mine[index] += 1
            case 2:
                coordinator.blockingWrite { room.write(me) }
                mine[index] += 1
            case 3:
                let limit = Duration.nanoseconds(rng.next(below: 30_000))
                let ran = coordinator.blockingWrite(timeout: limit) { room.write(me) } != nil
                mine[index] += ran ? 1 : 0
            case 4:
                coordinator.read(timeout: .nanoseconds(rng.next(below: 30_000))) {
                    checkRead(index, me, mine)
                }
            case 5:
                coordinator.blockingWrite {
                    coordinator.read { room.write(me) }
                    coordinator.enqueueWrite { room.write(me) }
                }
                mine[index] += 2
            case 6:
                coordinator.read {
                    coordinator.enqueueWrite { room.write(me) }
                    checkRead(index, me, mine)
                }
                mine[index] += 1
            case 7: nest(me, mine, &rng)
            case 8:
                let expected = mine[index]
                coordinator.reading.enqueue {
                    room.expect(room.read(me) >= expected, "an enqueued read missed a write")
                }
            default: coordinator.read { checkRead(index, me, mine) }
            }
        }
    }

    @Test(arguments: 0..<4)
    func `Laws 15, 17, 18: threads that mix all operations of five coordinators see no fault`(
        seed: UInt64
    ) async {
        let rooms = Rooms(writers: 4)
        await watched {
            onThreads(
                (0..<4).map { me in
                    {
                        var rng = SeededRNG(seed: seed * 100 + UInt64(me))
                        var mine = Array(repeating: 0, count: rooms.count)
                        for _ in 0..<rounds(debug: 4_000, release: 200_000) {
                            rooms.step(me, &mine, &rng)
                        }
                        for index in 0..<rooms.count {
                            rooms.coordinators[index].read { rooms.checkRead(index, me, mine) }
                        }
                    }
                })
        }
        #expect(rooms.fault == nil)
    }

    @Test func `Laws 15, 17, 18: tasks that mix all operations, and await some, see no fault`()
        async
    {
        let rooms = Rooms(writers: 6)
        await withTaskGroup { group in
            for me in 0..<6 {
                group.addTask {
                    var rng = SeededRNG(seed: UInt64(me))
                    var mine = Array(repeating: 0, count: rooms.count)
                    for _ in 0..<rounds(debug: 1_500, release: 50_000) {
                        let index = rng.next(below: rooms.count)
                        let (coordinator, room) = (rooms.coordinators[index], rooms.rooms[index])
                        switch rng.next(below: 8) {
                        case 0:
                            try? await coordinator.writeAsync { room.write(me) }
                            mine[index] += 1
                        case 1:
                            let expected = mine[index]
                            let seen = try? await coordinator.readAsync { room.read(me) }
                            room.expect(
                                seen == expected, "wrote \(expected) and read \(seen ?? -1)")
                        default: rooms.step(me, &mine, &rng)
                        }
                    }
                }
            }
        }
        #expect(rooms.fault == nil)
    }

    @Test func `Law 17: a biased read happens before the next write`() async {
        // The room is plain memory: the thread sanitizer sees whether reads and writes are ordered.
        let room = ReadWriteRoom()
        let (first, second) = (ReadWriteCoordinator(), ReadWriteCoordinator())
        await watched {
            onThreads([
                {
                    for _ in 0..<rounds(debug: 3_000, release: 300_000) {
                        first.read { _ = room.read() }
                        // A bias begins more than a hundred reads after a write, so the read here
                        // is counted.
                        second.blockingWrite {}
                        second.read {}
                    }
                },
                {
                    for index in 0..<rounds(debug: 300, release: 30_000) {
                        first.blockingWrite { room.write() }
                        if index % 2 == 0 { first.bringBias() }
                    }
                },
            ])
        }
        #expect(room.fault == nil)
    }
}
