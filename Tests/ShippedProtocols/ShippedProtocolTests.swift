import ExecutionContextsTesting
internal import Synchronization
import TestSupport
import Testing

/// The shipped lock, the shipped section's lock and the shipped ring of the pool, under the memory
/// that Swift promises. The shipped coordinator follows in an extension.
@Suite(
    .serialized, .patient,
    .withoutThreadSanitizer("it does not see what orders the stand-ins for atomics"))
struct ShippedProtocolTests {
    /// A variable that a lock guards.
    private final class Count<Lock: Sendable>: Sendable {
        let count = Shared(0, name: "count")
        let lock: Lock
        init(_ lock: Lock) { self.lock = lock }
        func add() { count.value += 1 }
    }

    private final class Embedded: Sendable { let lock = EmbeddedLock() }
    private final class Owned: Sendable { let lock = OwnedLock() }
    private final class Native: Sendable { let guarded = Guarded(0) }
    // Unchecked: it is what threads share here.
    private final class Ring: @unchecked Sendable {
        let ring = WorkRing()
        let other = WorkRing()
    }

    private static func native(_ sim: SimulatedWorld, _ threads: Int, _ times: Int) {
        let count = Count(Native())
        for index in 0..<threads {
            World.current.spawn("thread \(index)") {
                for _ in 0..<times { count.lock.guarded.withLock { _ in count.add() } }
            }
        }
        sim.finally("counted") { count.count.value == threads * times }
    }

    private static func embedded(_ sim: SimulatedWorld, _ threads: Int, _ times: Int) {
        let count = Count(Embedded())
        for index in 0..<threads {
            World.current.spawn("thread \(index)") {
                for _ in 0..<times {
                    count.lock.lock.lock()
                    count.add()
                    count.lock.lock.unlock()
                }
            }
        }
        sim.finally("counted") { count.count.value == threads * times }
    }

    private static func owned(_ sim: SimulatedWorld, _ threads: Int, _ times: Int) {
        let count = Count(Owned())
        for index in 0..<threads {
            World.current.spawn("thread \(index)") {
                let thread = unsafe Threads.current
                for _ in 0..<times {
                    let lock = count.lock
                    if unsafe !lock.lock.tryEnter(thread) {
                        _ = unsafe lock.lock.wait(thread, until: .max)
                    }
                    count.add()
                    unsafe lock.lock.leave(thread)
                }
            }
        }
        sim.finally("counted") { count.count.value == threads * times }
    }

    private final class Sum: Sendable { let atomic = SimulatedAtomic(0) }

    private static func ring(_ sim: SimulatedWorld) {
        let (rings, sum) = (Ring(), Sum())
        let inputs = (0..<4).map { Shared(0, name: "input \($0)") }
        let job: @Sendable (Int) -> Work = { index in
            { sum.atomic.wrappingAdd(inputs[index].value, ordering: .relaxed) }
        }
        World.current.spawn("owner") {
            for index in 0..<4 {
                inputs[index].value = 1 << (3 * index)
                _ = rings.ring.append(job(index))
                if index == 2 { rings.ring.take()?() }
            }
            rings.ring.take()?()
        }
        World.current.spawn("thief") {
            rings.ring.steal(into: rings.other, takesLast: true)?()
            rings.other.take()?()
        }
        World.current.spawn("helper") {
            rings.ring.takeFirst()?()
            rings.other.takeFirst()?()
        }
        sim.finally("each job once") {
            while let job = rings.ring.takeFirst() ?? rings.other.takeFirst() { job() }
            return sum.atomic.load(ordering: .relaxed) == 0b001_001_001_001
        }
    }

    private static func theft(_ sim: SimulatedWorld) {
        let (rings, sum) = (Ring(), Sum())
        for index in 0..<4 {
            _ = rings.ring.append { sum.atomic.wrappingAdd(1 << index, ordering: .relaxed) }
        }
        World.current.spawn("thief") { rings.ring.steal(into: rings.other, takesLast: false)?() }
        for index in 0..<2 { World.current.spawn("helper \(index)") { rings.other.takeFirst()?() } }
        sim.finally("each job once") {
            while let job = rings.ring.takeFirst() ?? rings.other.takeFirst() { job() }
            return sum.atomic.load(ordering: .relaxed) == 0b1111
        }
    }

    // Unchecked, as the rings.
    private final class Queue: @unchecked Sendable {
        let injector = Injector()
        let rings = [Ring(), Ring()]
    }

    private static func injector(_ sim: SimulatedWorld) {
        let (queue, sum) = (Queue(), Sum())
        let inputs = (0..<3).map { Shared(0, name: "input \($0)") }
        let submit: @Sendable (Int) -> Void = { index in
            inputs[index].value = 1 << (3 * index)
            _ = queue.injector.append(
                UnmanagedWork { sum.atomic.wrappingAdd(inputs[index].value, ordering: .relaxed) },
                isAccepted: false)
        }
        World.current.spawn("one") { for index in 0..<2 { submit(index) } }
        World.current.spawn("two") { submit(2) }
        for index in 0..<2 {
            World.current.spawn("worker \(index)") {
                let own = queue.rings[index]
                for _ in 0..<2 {
                    (own.ring.take() ?? queue.injector.take(into: own.ring, sharedBy: 2))?()
                }
            }
        }
        sim.finally("each job once") {
            for own in queue.rings { while let job = own.ring.takeFirst() { job() } }
            let last = Ring()
            while let job = queue.injector.take(into: last.ring, sharedBy: 100) { job() }
            return queue.injector.isEmpty
                && sum.atomic.load(ordering: .relaxed) == 0b001_001_001
        }
    }

    static let programs: [Program] = {
        var programs = [
            Program(description: "ring of the pool", build: ring),
            Program(description: "theft from the ring", build: theft),
        ]
        for (threads, times) in [(2, 1), (3, 1), (2, 2)] {
            let size = ", \(threads) threads, \(times) times"
            programs.append(
                Program(description: "native lock" + size) { native($0, threads, times) })
            for isPortable in [false, true] {
                let size = size + (isPortable ? ", portable" : "")
                programs += [
                    Program(description: "embedded lock" + size, isPortable: isPortable) {
                        embedded($0, threads, times)
                    },
                    Program(description: "section's lock" + size, isPortable: isPortable) {
                        owned($0, threads, times)
                    },
                ]
            }
        }
        return programs
    }()

    /// It passes its jobs on by its locks, so it needs no order of its own.
    static let locked = Program(description: "injector of the pool", build: injector)

    @Test(arguments: programs + [locked])
    func `Law 14: what ships excludes, wakes and passes on under a weak memory`(program: Program) {
        World.weakening = nil
        let report = program.search(schedules: rounds(debug: 30, release: 200))
        #expect(report.failure == nil, "\(report)")
    }

    /// Orders that no program above needs, by the line that has them, and why they are there.
    ///
    /// The first three keep a load from returning what is stored later, by the next owner of the
    /// cell. Simulated loads never do.
    static let spared: [String: String] = [
        "expected: first, desired: first &+ 1, successOrdering: .acquiringAndReleasing,":
            "the words of a cell are read before it is given back",
        "let advance = front.weakCompareExchange(": "the same",
        "let advance = front.compareExchange(": "the same",
        "var first = front.load(ordering: .acquiring)": "what a job needs comes with the end",
        "first = front.load(ordering: .acquiring)": "the same",
        "if waiters.load(ordering: .sequentiallyConsistent) != 0 { wakeOne() }":
            "the system compares the word once more before a thread sleeps",
        "_ = held.exchange(0, ordering: .sequentiallyConsistent)": "the same",
        "_ = unsafe owner.pointee.exchange(": "the new owner looks under the lock of the queue",
        "if unsafe word.pointee.compareExchange(": "each lock passes on by words of its own",
        "} while unsafe word.pointee.load(ordering: .acquiring) == Self.asleep": "the same",
        "_ = unsafe word.pointee.exchange(Self.empty, ordering: .acquiring)": "the same",
        "if unsafe word.pointee.exchange(Self.token, ordering: .releasing) == Self.asleep {":
            "the same",
    ]

    @Test func `Each other order that ships is needed`() throws {
        var open: Set<Weakening> = []
        var found: Set<Weakening> = []
        defer { World.weakening = nil }
        // The largest first: they need the most orders.
        for program in Self.programs.reversed() {
            for weakening in program.weakenings() where !found.contains(weakening) {
                guard try Self.spared[weakening.site.text] == nil else { continue }
                World.weakening = weakening
                if program.search(schedules: rounds(debug: 50, release: 200)).failure == nil {
                    open.insert(weakening)
                } else {
                    found.insert(weakening)
                }
            }
        }
        #expect(open.subtracting(found).isEmpty, "\(open.subtracting(found))")
        #expect(found.count >= 14, "\(found.sorted { "\($0)" < "\($1)" })")
    }
}
