import Dispatch
import ExecutionContexts
import Foundation
import Testing

/// A random program over sections and coordinators that notices breaches of exclusion and order.
///
/// It also notices if a submitter does not see exactly the writes that it submitted before.
///
/// Every body takes the resources in one order, so no run may hang:
///
/// 1. the first section
/// 2. the second section
/// 3. the first coordinator's write context
/// 4. the first coordinator
/// 5. the second coordinator's write context
/// 6. the second coordinator
///
/// A write context that runs one job at a time is a resource like a lock. A job on it delays the
/// writes, and with them every reader that may not run the writes before it itself (law 20). A body
/// on a write context takes no resource that comes before it.
final class CoordinationProgram: @unchecked Sendable {
    // Unchecked: each section under test guards its tally. The rest is constant or thread-safe.
    private let coordinators: [ReadWriteCoordinator]
    private let writeContexts: [WriteContext]
    private let rooms: [ReadWriteRoom]
    private let sections: [CriticalSection]
    private let tallies = [Tally(), Tally()]
    private let entries = Box<[Int]>([])
    private let bodies: Int
    private let operations: Int
    private let seed: UInt64
    private let written = Box<[Int]>([])
    private let queuedReads = DispatchGroup()

    /// Counts the entries of a section, before and after what a body does inside.
    ///
    /// Each section has an object of its own. Elements of one array would share its buffer, and
    /// with it one guard.
    private final class Tally {
        var (left, right) = (0, 0)
    }

    private struct WriteContext: Sendable {
        let context: any ExecutionContext
        /// Whether the context runs one job at a time, on a thread of its own or of a pool.
        var isSerial = true
    }

    init(seed: UInt64, bodies: Int, operations: Int) {
        self.seed = seed
        self.bodies = bodies
        self.operations = operations
        var rng = SeededRNG(seed: seed)
        let kinds: [@Sendable () -> WriteContext] = [
            { WriteContext(context: GlobalContext(), isSerial: false) },
            { WriteContext(context: ImmediateContext(), isSerial: false) },
            { WriteContext(context: SerialQueueContext(name: "writes")) },
            { WriteContext(context: GlobalContext().serial()) },
            { WriteContext(context: GlobalContext().limited(to: 1, named: "limited")) },
        ]
        writeContexts = (0..<2).map { _ in kinds[rng.next(below: kinds.count)]() }
        coordinators = writeContexts.map { ReadWriteCoordinator(writesOnAny: $0.context) }
        rooms = coordinators.map { _ in ReadWriteRoom(writers: bodies) }
        sections = [CriticalSection(name: "first"), CriticalSection(name: "second")]
        entries.value = [0, 0]
        written.value = [0, 0]
    }

    /// The first fault, if there is one.
    var fault: String? { rooms.compactMap(\.fault).first }

    /// Runs all bodies: on their own threads, on a pool of fewer threads, and on write contexts.
    func run() {
        let all = DispatchGroup()
        for me in 0..<bodies {
            all.enter()
            let choice = UInt64(me) &+ seed
            let index = Int(choice / 4 % 2)
            let isOnWriteContext = choice % 4 == 1 && writeContexts[index].isSerial
            let work: Work = { [self] in
                // On a write context, the first resource that a body may take is the coordinator.
                var body = Body(self, me, first: isOnWriteContext ? 2 + index : 0)
                body.run()
                all.leave()
            }
            if isOnWriteContext {
                writeContexts[index].context.execute(work)
            } else if choice % 4 == 0 {
                Thread.detachNewThread(work)
            } else {
                GlobalContext().execute(work)
            }
        }
        all.wait()
        queuedReads.wait()
        for index in coordinators.indices {
            let total = coordinators[index].read { rooms[index].total }
            let expected = written.value[index]
            rooms[index].expect(total == expected, "of \(expected) writes \(total) ran")
        }
        for index in sections.indices {
            let (left, right) = sections[index].execute {
                (tallies[index].left, tallies[index].right)
            }
            let expected = entries.value[index]
            rooms[0].expect(
                left == expected && right == expected,
                "of \(expected) entries \(left) and \(right) are left")
        }
    }

    /// One thread or job of the program, and the writes that it must see.
    private struct Body {
        let program: CoordinationProgram
        let me: Int
        /// The first resource that the body may take.
        let first: Int
        var rng: SeededRNG
        /// How many writes the body has submitted to each coordinator.
        var mine = [0, 0]

        init(_ program: CoordinationProgram, _ me: Int, first: Int) {
            self.program = program
            self.me = me
            self.first = first
            rng = SeededRNG(seed: program.seed &* 977 &+ UInt64(me))
        }

        mutating func run() {
            for _ in 0..<program.operations { access(from: first) }
            program.written.withValue { written in
                for index in mine.indices { written[index] += mine[index] }
            }
        }

        /// Accesses one resource, `first` or a later one, perhaps with other accesses inside.
        private mutating func access(from first: Int) {
            guard first < 4 else { return }
            let index = first + rng.next(below: 4 - first)
            if index < 2 { enter(index) } else { use(index - 2) }
        }

        private mutating func enter(_ index: Int) {
            let limit = self.limit
            let isIn: Void? = program.sections[index].execute(timeout: limit) {
                let tally = program.tallies[index]
                program.rooms[0].expect(
                    tally.left == tally.right, "two threads are inside a section")
                tally.left += 1
                if rng.next(below: 2) == 0 { access(from: index + 1) }
                // A thread that is inside enters again.
                program.sections[index].execute { tally.right += 1 }
            }
            if isIn != nil { program.entries.withValue { $0[index] += 1 } }
        }

        /// A time limit: half of the limits never expire, and most of the others do.
        private var limit: Duration {
            mutating get {
                rng.next(below: 2) == 0 ? .seconds(Int.max) : .microseconds(rng.next(below: 100))
            }
        }

        private mutating func use(_ index: Int) {
            let (coordinator, room) = (program.coordinators[index], program.rooms[index])
            switch rng.next(below: 8) {
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
                    let count = mine[index]
                    enqueueWrite(index)
                    coordinator.read { look(index, expecting: count) }
                }
            }
        }

        /// Checks that an access sees exactly the writes submitted before it, and may access more.
        private mutating func look(_ index: Int, expecting count: Int) {
            let room = program.rooms[index]
            room.expect(
                room.read(me) == count, "\(me) submitted \(count) writes and sees \(room.read(me))")
            switch rng.next(below: 4) {
            case 0: access(from: index + 3)
            case 1: enqueueRead(index)
            case 2: enqueueWrite(index)
            default: break
            }
            room.expect(room.read(me) == count, "a write came into an access")
        }

        private mutating func enqueueWrite(_ index: Int) {
            let (room, me) = (program.rooms[index], me)
            mine[index] += 1
            program.coordinators[index].enqueueWrite { room.write(me) }
        }

        private func enqueueRead(_ index: Int) {
            let (room, me, queuedReads, count) = (
                program.rooms[index], me, program.queuedReads, mine[index]
            )
            queuedReads.enter()
            program.coordinators[index].reading.enqueue {
                let seen = room.read(me)
                room.expect(
                    seen == count, "\(me) submitted \(count) writes before a read that sees \(seen)"
                )
                queuedReads.leave()
            }
        }
    }
}
