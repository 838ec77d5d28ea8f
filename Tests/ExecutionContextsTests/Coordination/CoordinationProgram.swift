import Dispatch
import ExecutionContexts
import Foundation
import Testing

/// A random program over sections and coordinators, which notices every breach of exclusion, of order and of what a
/// submitter must see.
///
/// All resources have one order, in which a body takes them, so no run may hang: first section, second section, the
/// first coordinator's write context, the first coordinator, the second one's write context, the second coordinator.
/// A write context that runs one job at a time is a resource like a lock: a job on it holds up the writes, and so
/// every reader behind one of them that may not run it itself (law 20). A body on one takes nothing that comes before.
final class CoordinationProgram: @unchecked Sendable {
    // Unchecked: each tally is guarded by its section under test, the rest is constant or guards itself.
    private let coordinators: [ReadWriteCoordinator]
    private let carriers: [Carrier]
    private let rooms: [ReadWriteRoom]
    private let sections: [CriticalSection]
    private let tallies = [Tally(), Tally()]
    private let inTallies = Box<[Int]>([])
    private let bodies: Int
    private let operations: Int
    private let seed: UInt64
    private let written = Box<[Int]>([])
    private let later = DispatchGroup()

    /// Counts entries on both sides of what a body does inside.
    ///
    /// An object for each section: elements of one array would share its buffer, and so a guard.
    private final class Tally {
        var (left, right) = (0, 0)
    }

    private struct Carrier: Sendable {
        let context: any ExecutionContext
        /// Whether it runs one job at a time, on a thread of its own or of a pool.
        var isSerial = true
    }

    init(seed: UInt64, bodies: Int, operations: Int) {
        self.seed = seed
        self.bodies = bodies
        self.operations = operations
        var dice = Dice(seed: seed)
        let kinds: [@Sendable () -> Carrier] = [
            { Carrier(context: GlobalContext(), isSerial: false) },
            { Carrier(context: ImmediateContext(), isSerial: false) },
            { Carrier(context: SerialQueueContext(label: "writes")) },
            { Carrier(context: GlobalContext().serial()) },
            { Carrier(context: GlobalContext().limited(to: 1, name: "limited")) },
        ]
        carriers = (0..<2).map { _ in kinds[dice.roll(kinds.count)]() }
        coordinators = carriers.map { ReadWriteCoordinator(carriedBy: $0.context) }
        rooms = coordinators.map { _ in ReadWriteRoom(writers: bodies) }
        sections = [CriticalSection(name: "first"), CriticalSection(name: "second")]
        inTallies.value = [0, 0]
        written.value = [0, 0]
    }

    /// What went wrong first, if anything.
    var fault: String? { rooms.compactMap(\.fault).first }

    /// Runs all bodies: on threads of their own, on a pool with fewer threads, and on the write contexts.
    func run() {
        let all = DispatchGroup()
        for me in 0..<bodies {
            all.enter()
            let turn = UInt64(me) &+ seed
            let index = Int(turn / 4 % 2)
            let isOnCarrier = turn % 4 == 1 && carriers[index].isSerial
            let work: Work = { [self] in
                // On a coordinator's write context, that coordinator is the first resource that a body may take.
                var body = Body(self, me, first: isOnCarrier ? 2 + index : 0)
                body.run()
                all.leave()
            }
            if isOnCarrier {
                carriers[index].context.execute(work)
            } else if turn % 4 == 0 {
                Thread.detachNewThread(work)
            } else {
                GlobalContext().execute(work)
            }
        }
        all.wait()
        later.wait()
        for index in coordinators.indices {
            let total = coordinators[index].read { rooms[index].total }
            let expected = written.value[index]
            rooms[index].expect(total == expected, "of \(expected) writes \(total) ran")
        }
        for index in sections.indices {
            let (left, right) = sections[index].execute { (tallies[index].left, tallies[index].right) }
            let expected = inTallies.value[index]
            rooms[0].expect(
                left == expected && right == expected, "of \(expected) entries \(left) and \(right) are left")
        }
    }

    /// One thread of the program, and what it must see.
    private struct Body {
        let program: CoordinationProgram
        let me: Int
        /// The first resource that it may take.
        let first: Int
        var dice: Dice
        /// How many writes it has submitted to each coordinator.
        var mine = [0, 0]

        init(_ program: CoordinationProgram, _ me: Int, first: Int) {
            self.program = program
            self.me = me
            self.first = first
            dice = Dice(seed: program.seed &* 977 &+ UInt64(me))
        }

        mutating func run() {
            for _ in 0..<program.operations { access(from: first) }
            program.written.withValue { written in
                for index in mine.indices { written[index] += mine[index] }
            }
        }

        /// One access of a resource that comes no earlier than `first`, perhaps with others inside.
        private mutating func access(from first: Int) {
            guard first < 4 else { return }
            let index = first + dice.roll(4 - first)
            if index < 2 { enter(index) } else { use(index - 2) }
        }

        private mutating func enter(_ index: Int) {
            let limit = self.limit
            let isIn: Void? = program.sections[index].execute(timeout: limit) {
                let tally = program.tallies[index]
                program.rooms[0].expect(tally.left == tally.right, "two are inside a section")
                tally.left += 1
                if dice.roll(2) == 0 { access(from: index + 1) }
                // Once more: a thread that is inside enters again.
                program.sections[index].execute { tally.right += 1 }
            }
            if isIn != nil { program.inTallies.withValue { $0[index] += 1 } }
        }

        /// Half of the limits never come; most of the others do.
        private var limit: Duration {
            mutating get { dice.roll(2) == 0 ? .seconds(Int.max) : .microseconds(dice.roll(100)) }
        }

        private mutating func use(_ index: Int) {
            let (coordinator, room) = (program.coordinators[index], program.rooms[index])
            switch dice.roll(8) {
            case 0: enqueueWrite(index)
            case 1: enqueueRead(index)
            case 2: coordinator.read { look(index, expecting: mine[index]) }
            case 3: _ = coordinator.read(timeout: limit) { look(index, expecting: mine[index]) }
            case 4:
                coordinator.blockingWrite {
                    room.write(me)
                    mine[index] += 1
                    look(index, expecting: mine[index])
                }
            case 5:
                let limit = self.limit
                _ = coordinator.blockingWrite(timeout: limit) {
                    room.write(me)
                    mine[index] += 1
                    coordinator.read { look(index, expecting: mine[index]) }
                }
            case 6:
                let hold = coordinator.writing.hold()
                coordinator.blockingWrite { room.write(me) }
                mine[index] += 1
                coordinator.read { look(index, expecting: mine[index]) }
                hold.release()
            default:
                coordinator.read {
                    let view = mine[index]
                    enqueueWrite(index)
                    coordinator.read { look(index, expecting: view) }
                }
            }
        }

        /// Inside an access: sees all and only what was submitted before it, and does something else.
        private mutating func look(_ index: Int, expecting view: Int) {
            let room = program.rooms[index]
            room.expect(room.read(me) == view, "\(me) submitted \(view) writes and sees \(room.read(me))")
            switch dice.roll(4) {
            case 0: access(from: index + 3)
            case 1: enqueueRead(index)
            case 2: enqueueWrite(index)
            default: break
            }
            room.expect(room.read(me) == view, "a write came into an access")
        }

        private mutating func enqueueWrite(_ index: Int) {
            let (room, me) = (program.rooms[index], me)
            mine[index] += 1
            program.coordinators[index].enqueueWrite { room.write(me) }
        }

        private func enqueueRead(_ index: Int) {
            let (room, me, later, view) = (program.rooms[index], me, program.later, mine[index])
            later.enter()
            program.coordinators[index].reading.enqueue {
                let seen = room.read(me)
                room.expect(seen == view, "\(me) submitted \(view) writes before a read that sees \(seen)")
                later.leave()
            }
        }
    }
}
