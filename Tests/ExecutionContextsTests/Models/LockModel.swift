/// The protocol of `OwnedLock`, step by step, for `explore`. An `Omission` leaves out one part.
struct LockModel {
    /// The part of the protocol that a broken version leaves out.
    enum Omission: CaseIterable {
        /// The barrier between the waiter's announcement and its last try.
        case barrierAfterAnnouncement
        /// The barrier after a woken waiter has cleared its pending wake-up.
        case barrierAfterWake
        /// The wake-up when the lock is released.
        case wake
        /// That a waiter that gives up passes its wake-up to the next one.
        case passingOn
        /// The try after the announcement.
        case lastTry
        /// That a thread takes the lock only if it is still free: load and store are two steps.
        case comparison

    }

    var processors = 2
    var rounds: UInt8 = 1
    /// The processors that wait with a time limit.
    var impatient: Set<Int> = []
    /// Whether a release is an exchange instead of a store: the mode without a barrier for all
    /// threads.
    var isPortable = false
    var omission: Omission?

    // The addresses in memory. The wait queue and its flags have a lock of their own, so their
    // changes are atomic.
    private static let owner = 0, waiters = 1, inside = 2, wakePending = 3, starving = 4
    private static func entry(_ index: Int) -> Int { 8 + index }
    private static func woken(_ thread: Int) -> Int { 16 + thread }
    private static func isAdmitted(_ thread: Int) -> Int { 24 + thread }
    private static func parkToken(_ thread: Int) -> Int { 32 + thread }
    // The registers.
    private static let roundsLeft = 0, target = 1

    /// Explores on a thread of its own, since it takes seconds.
    func explored() async -> Exploration { await onOwnThread { explore() } }

    private func explore() -> Exploration {
        var world = World(processors: Array(repeating: .init(), count: processors))
        for processor in 0..<processors {
            world.processors[processor].registers[Self.roundsLeft] = rounds
        }
        return ExecutionContextsTests.explore((0..<processors).map(program), from: world)
    }

    private func program(_ me: Int) -> Program {
        var program = Program()
        entering(&program)
        waiting(&program, isImpatient: impatient.contains(me))
        leaving(&program)
        return program
    }

    private func entering(_ program: inout Program) {
        program.atomic("enter") { world, me in
            if omission == .comparison {
                return world.memory[Self.owner] == 0 ? .to("grab") : .to("announce")
            }
            return take(&world, me) ? .to("inside") : .to("announce")
        }
        program.atomic("grab") { world, me in
            world.memory[Self.owner] = UInt8(me + 1)
            return .to("inside")
        }
        program.atomic("announce") { world, me in
            let end = waitQueue(world).count
            world.memory[Self.entry(end)] = UInt8(me + 1)
            summarize(&world)
            return omission == .lastTry ? .to("park") : .next
        }
        if omission != .barrierAfterAnnouncement && !isPortable {
            program.barrier("barrier", processors: processors)
        }
        program.atomic("try") { world, me in take(&world, me) ? .to("leave the queue") : .to("park")
        }
        program.atomic("leave the queue") { world, me in
            remove(me, &world)
            return .to("inside")
        }
    }

    private func waiting(_ program: inout Program, isImpatient: Bool) {
        program.step("park") { world, me in
            if world.memory[Self.parkToken(me)] == 0 {
                return isImpatient ? .to("give up") : .blocked
            }
            return isImpatient ? .either(["give up", "wake up"]) : .to("wake up")
        }
        program.atomic("wake up") { world, me in
            world.memory[Self.parkToken(me)] = 0
            return .next
        }
        program.atomic("handle the wake-up") { world, me in
            if world.memory[Self.isAdmitted(me)] == 1 {
                world.memory[Self.isAdmitted(me)] = 0
                return .to("inside")
            }
            guard world.memory[Self.woken(me)] == 1 else { return .to("try") }
            world.memory[Self.woken(me)] = 0
            world.memory[Self.wakePending] = 0
            summarize(&world)
            return .either(["compete", "starve"])
        }
        program.atomic("starve") { world, me in
            // In the library the clock decides. Here both outcomes are tried.
            if waitQueue(world).first == UInt8(me + 1) { world.memory[Self.starving] = 1 }
            summarize(&world)
            return .next
        }
        program.step("compete") { _, _ in
            omission == .barrierAfterWake || isPortable ? .to("try") : .next
        }
        program.barrier("second barrier", processors: processors)
        program.step("try again") { _, _ in .to("try") }
        program.atomic("give up") { world, me in
            if world.memory[Self.isAdmitted(me)] == 1 {
                world.memory[Self.isAdmitted(me)] = 0
                return .to("inside")
            }
            let wasWoken = world.memory[Self.woken(me)] == 1
            remove(me, &world)
            guard wasWoken, omission != .passingOn, wakeFirst(&world, me) else {
                return .to("again")
            }
            return .to("unpark")
        }
    }

    private func leaving(_ program: inout Program) {
        program.step("inside") { world, _ in
            world.memory[Self.inside] += 1
            world.check(world.memory[Self.inside] == 1, "two threads are inside")
            return .next
        }
        program.step("leave") { world, _ in
            world.memory[Self.inside] -= 1
            return .next
        }
        program.step("is the first waiter starving?") { world, me in
            world.load(Self.waiters, by: me) & 2 != 0 ? .to("hand over") : .to("release")
        }
        program.atomic("hand over") { world, me in
            guard let newOwner = waitQueue(world).first.map({ Int($0) - 1 }) else {
                return .to("release")
            }
            remove(newOwner, &world)
            world.memory[Self.isAdmitted(newOwner)] = 1
            world.memory[Self.owner] = UInt8(newOwner + 1)
            world.processors[me].registers[Self.target] = UInt8(newOwner)
            return .to("unpark")
        }
        if isPortable {
            program.atomic("release") { world, _ in
                world.memory[Self.owner] = 0
                return .next
            }
        } else {
            program.step("release") { world, me in
                world.store(0, in: Self.owner, by: me)
                return .next
            }
        }
        program.step("are there waiters?") { world, me in
            let waiters = world.load(Self.waiters, by: me)
            return waiters != 0 && waiters & 1 == 0 && omission != .wake
                ? .to("wake") : .to("again")
        }
        program.atomic("wake") { world, me in wakeFirst(&world, me) ? .next : .to("again") }
        program.atomic("unpark") { world, me in
            world.memory[Self.parkToken(Int(world.processors[me].registers[Self.target]))] = 1
            return .next
        }
        program.step("again") { world, me in
            world.processors[me].registers[Self.roundsLeft] -= 1
            return world.processors[me].registers[Self.roundsLeft] == 0 ? .end : .to("enter")
        }
    }

    private func take(_ world: inout World, _ me: Int) -> Bool {
        guard world.memory[Self.owner] == 0 else { return false }
        world.memory[Self.owner] = UInt8(me + 1)
        return true
    }

    private func waitQueue(_ world: World) -> [UInt8] {
        (0..<processors).map { world.memory[Self.entry($0)] }.filter { $0 != 0 }
    }

    private func remove(_ thread: Int, _ world: inout World) {
        let rest = waitQueue(world).filter { $0 != UInt8(thread + 1) }
        for index in 0..<processors {
            world.memory[Self.entry(index)] = index < rest.count ? rest[index] : 0
        }
        if world.memory[Self.woken(thread)] == 1 {
            world.memory[Self.woken(thread)] = 0
            world.memory[Self.wakePending] = 0
        }
        world.memory[Self.starving] = 0
        summarize(&world)
    }

    /// Marks the first waiter as woken, and notes it as the one to unpark.
    private func wakeFirst(_ world: inout World, _ me: Int) -> Bool {
        guard world.memory[Self.wakePending] == 0, let first = waitQueue(world).first else {
            return false
        }
        world.memory[Self.woken(Int(first) - 1)] = 1
        world.memory[Self.wakePending] = 1
        world.processors[me].registers[Self.target] = first - 1
        summarize(&world)
        return true
    }

    private func summarize(_ world: inout World) {
        world.memory[Self.waiters] =
            UInt8(waitQueue(world).count) << 2 | world.memory[Self.starving] << 1
            | world.memory[Self.wakePending]
    }
}
