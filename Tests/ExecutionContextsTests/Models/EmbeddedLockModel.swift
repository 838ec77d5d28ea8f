/// The protocol of `EmbeddedLock`, step by step, for `explore`; with parts that can be left out.
struct EmbeddedLockModel {
    /// What a broken version leaves out.
    enum Omission: CaseIterable {
        /// The barrier between announcing oneself and the next try.
        case barrier
        /// That the system lets a thread sleep only while the lock is held.
        case comparison
        /// The wake-up when the lock is released.
        case wake
    }

    var processors = 2
    var rounds: UInt8 = 1
    /// Releases by an exchange instead of a store: the mode without a barrier for all.
    var isPortable = false
    var omission: Omission?

    // The cells of memory.
    private static let held = 0, waiters = 1, inside = 2
    private static func asleep(_ thread: Int) -> Int { 8 + thread }
    // The registers.
    private static let roundsLeft = 0

    /// Explores on a thread of its own, since it takes a while.
    func explored() async -> Exploration { await onOwnThread { explore() } }

    private func explore() -> Exploration {
        var world = World(processors: Array(repeating: .init(), count: processors))
        for processor in 0..<processors { world.processors[processor].registers[Self.roundsLeft] = rounds }
        return ExecutionContextsTests.explore((0..<processors).map { _ in program }, from: world)
    }

    private var program: Program {
        var program = Program()
        entering(&program)
        leaving(&program)
        return program
    }

    private func entering(_ program: inout Program) {
        program.atomic("enter") { world, _ in take(&world) ? .to("inside") : .to("announce") }
        program.atomic("announce") { world, _ in
            world.memory[Self.waiters] += 1
            return .next
        }
        if omission != .barrier && !isPortable { program.barrier("barrier", processors: processors) }
        program.atomic("try") { world, _ in take(&world) ? .to("depart") : .to("sleep") }
        // The system compares and puts to sleep as one.
        program.atomic("sleep") { world, me in
            if omission != .comparison, world.memory[Self.held] == 0 { return .to("try") }
            world.memory[Self.asleep(me)] = 1
            return .next
        }
        program.step("asleep") { world, me in
            world.memory[Self.asleep(me)] == 1 ? .blocked : .to("try")
        }
        program.atomic("depart") { world, _ in
            world.memory[Self.waiters] -= 1
            return .next
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
        if isPortable {
            program.atomic("release") { world, _ in
                world.memory[Self.held] = 0
                return .next
            }
        } else {
            program.step("release") { world, me in
                world.store(0, in: Self.held, by: me)
                return .next
            }
        }
        program.step("is anybody waiting?") { world, me in
            let waits = world.load(Self.waiters, by: me) != 0
            return waits && omission != .wake ? .to("wake") : .to("again")
        }
        program.atomic("wake") { world, _ in
            let sleeper = (0..<processors).first { world.memory[Self.asleep($0)] == 1 }
            if let sleeper { world.memory[Self.asleep(sleeper)] = 0 }
            return .next
        }
        program.step("again") { world, me in
            world.processors[me].registers[Self.roundsLeft] -= 1
            return world.processors[me].registers[Self.roundsLeft] == 0 ? .end : .to("enter")
        }
    }

    private func take(_ world: inout World) -> Bool {
        guard world.memory[Self.held] == 0 else { return false }
        world.memory[Self.held] = 1
        return true
    }
}
