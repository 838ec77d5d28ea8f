/// The protocol of `OwnedLock`, step by step, for `explore`; with parts that can be left out.
struct LockModel {
    /// What a broken version leaves out.
    enum Omission: CaseIterable {
        /// The barrier between announcing oneself and the last try.
        case barrierAfterAnnouncement
        /// The barrier after one's wake-up was taken back.
        case barrierAfterWake
        /// The wake-up when the lock is released.
        case wake
        /// Passing on a wake-up that came too late.
        case passingOn
        /// The try after the announcement.
        case lastTry
        /// That the lock is taken only if it is still free: the look and the taking are two steps.
        case comparison

    }

    var processors = 2
    var rounds: UInt8 = 1
    /// Which of the processors wait with a time limit.
    var impatient: Set<Int> = []
    /// Releases by an exchange instead of a store: the mode without a barrier for all.
    var isPortable = false
    var omission: Omission?

    // The cells of memory. The line and what goes with it is guarded by a lock of its own: its changes are atomic.
    private static let owner = 0, waiters = 1, inside = 2, pending = 3, starving = 4
    private static func place(_ index: Int) -> Int { 8 + index }
    private static func woken(_ thread: Int) -> Int { 16 + thread }
    private static func isIn(_ thread: Int) -> Int { 24 + thread }
    private static func token(_ thread: Int) -> Int { 32 + thread }
    // The registers.
    private static let roundsLeft = 0, target = 1

    /// Explores on a thread of its own, since it takes a while.
    func explored() async -> Exploration { await onOwnThread { explore() } }

    private func explore() -> Exploration {
        var world = World(processors: Array(repeating: .init(), count: processors))
        for processor in 0..<processors { world.processors[processor].registers[Self.roundsLeft] = rounds }
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
            let end = line(world).count
            world.memory[Self.place(end)] = UInt8(me + 1)
            summarize(&world)
            return omission == .lastTry ? .to("park") : .next
        }
        if omission != .barrierAfterAnnouncement && !isPortable {
            program.barrier("barrier", processors: processors)
        }
        program.atomic("try") { world, me in take(&world, me) ? .to("depart") : .to("park") }
        program.atomic("depart") { world, me in
            remove(me, &world)
            return .to("inside")
        }
    }

    private func waiting(_ program: inout Program, isImpatient: Bool) {
        program.step("park") { world, me in
            if world.memory[Self.token(me)] == 0 { return isImpatient ? .to("give up") : .blocked }
            return isImpatient ? .either(["give up", "wake up"]) : .to("wake up")
        }
        program.atomic("wake up") { world, me in
            world.memory[Self.token(me)] = 0
            return .next
        }
        program.atomic("reconsider") { world, me in
            if world.memory[Self.isIn(me)] == 1 {
                world.memory[Self.isIn(me)] = 0
                return .to("inside")
            }
            guard world.memory[Self.woken(me)] == 1 else { return .to("try") }
            world.memory[Self.woken(me)] = 0
            world.memory[Self.pending] = 0
            summarize(&world)
            return .either(["go on", "starve"])
        }
        program.atomic("starve") { world, me in
            // Whether it has waited long enough is a matter of time; here, of chance.
            if line(world).first == UInt8(me + 1) { world.memory[Self.starving] = 1 }
            summarize(&world)
            return .next
        }
        program.step("go on") { _, _ in omission == .barrierAfterWake || isPortable ? .to("try") : .next }
        program.barrier("second barrier", processors: processors)
        program.step("try again") { _, _ in .to("try") }
        program.atomic("give up") { world, me in
            if world.memory[Self.isIn(me)] == 1 {
                world.memory[Self.isIn(me)] = 0
                return .to("inside")
            }
            let wasWoken = world.memory[Self.woken(me)] == 1
            remove(me, &world)
            guard wasWoken, omission != .passingOn, wakeFirst(&world, me) else { return .to("again") }
            return .to("unpark")
        }
    }

    private func leaving(_ program: inout Program) {
        program.step("inside") { world, _ in
            world.memory[Self.inside] += 1
            world.check(world.memory[Self.inside] == 1, "two are inside")
            return .next
        }
        program.step("leave") { world, _ in
            world.memory[Self.inside] -= 1
            return .next
        }
        program.step("is anybody starving?") { world, me in
            world.load(Self.waiters, by: me) & 2 != 0 ? .to("hand over") : .to("release")
        }
        program.atomic("hand over") { world, me in
            guard let heir = line(world).first.map({ Int($0) - 1 }) else { return .to("release") }
            remove(heir, &world)
            world.memory[Self.isIn(heir)] = 1
            world.memory[Self.owner] = UInt8(heir + 1)
            world.processors[me].registers[Self.target] = UInt8(heir)
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
        program.step("is anybody waiting?") { world, me in
            let waiters = world.load(Self.waiters, by: me)
            return waiters != 0 && waiters & 1 == 0 && omission != .wake ? .to("wake") : .to("again")
        }
        program.atomic("wake") { world, me in wakeFirst(&world, me) ? .next : .to("again") }
        program.atomic("unpark") { world, me in
            world.memory[Self.token(Int(world.processors[me].registers[Self.target]))] = 1
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

    private func line(_ world: World) -> [UInt8] {
        (0..<processors).map { world.memory[Self.place($0)] }.filter { $0 != 0 }
    }

    private func remove(_ thread: Int, _ world: inout World) {
        let rest = line(world).filter { $0 != UInt8(thread + 1) }
        for index in 0..<processors { world.memory[Self.place(index)] = index < rest.count ? rest[index] : 0 }
        if world.memory[Self.woken(thread)] == 1 {
            world.memory[Self.woken(thread)] = 0
            world.memory[Self.pending] = 0
        }
        world.memory[Self.starving] = 0
        summarize(&world)
    }

    /// Marks the first as woken, and notes whom to unpark.
    private func wakeFirst(_ world: inout World, _ me: Int) -> Bool {
        guard world.memory[Self.pending] == 0, let first = line(world).first else { return false }
        world.memory[Self.woken(Int(first) - 1)] = 1
        world.memory[Self.pending] = 1
        world.processors[me].registers[Self.target] = first - 1
        summarize(&world)
        return true
    }

    private func summarize(_ world: inout World) {
        world.memory[Self.waiters] =
            UInt8(line(world).count) << 2 | world.memory[Self.starving] << 1 | world.memory[Self.pending]
    }
}
