/// The protocol of `EmbeddedLock`, step by step, for `explore`. An `Omission` leaves out one part.
struct EmbeddedLockModel {
    /// The part of the protocol that a broken version leaves out.
    enum Omission: CaseIterable {
        /// The barrier between the waiter's announcement and its next try.
        case barrier
        /// That the system lets a thread sleep only while the lock is held.
        case comparison
        /// The wake-up when the lock is released.
        case wake
    }

    var processors = 2
    var rounds: UInt8 = 1
    /// Whether a release is an exchange instead of a store: the mode without a barrier for all
    /// threads.
    var isPortable = false
    var omission: Omission?

    // The addresses in memory.
    private static let held = 0, waiters = 1, inside = 2
    private static func asleep(_ thread: Int) -> Int { 8 + thread }
    // The registers.
    private static let roundsLeft = 0

    /// Explores on a thread of its own, since it takes seconds.
    func explored() async -> Exploration { await onOwnThread { explore() } }

    private func explore() -> Exploration {
        var world = World(processors: Array(repeating: .init(), count: processors))
        for processor in 0..<processors {
            world.processors[processor].registers[Self.roundsLeft] = rounds
        }
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
        if omission != .barrier && !isPortable {
            program.barrier("barrier", processors: processors)
        }
        program.atomic("try") { world, _ in take(&world) ? .to("leave the waiters") : .to("sleep") }
        // The system compares the word and puts the thread to sleep in one atomic step.
        program.atomic("sleep") { world, me in
            if omission != .comparison, world.memory[Self.held] == 0 { return .to("try") }
            world.memory[Self.asleep(me)] = 1
            return .next
        }
        program.step("asleep") { world, me in
            world.memory[Self.asleep(me)] == 1 ? .blocked : .to("try")
        }
        program.atomic("leave the waiters") { world, _ in
            world.memory[Self.waiters] -= 1
            return .next
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
        program.step("are there waiters?") { world, me in
            let hasWaiters = world.load(Self.waiters, by: me) != 0
            return hasWaiters && omission != .wake ? .to("wake") : .to("again")
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
