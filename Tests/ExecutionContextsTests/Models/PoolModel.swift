/// How a pool's workers come and go beside those who submit, step by step, for `explore`; with parts to leave out.
///
/// The first piece that is taken waits until another one has run, so everybody must be called who could run that.
struct PoolModel {
    /// What a broken version leaves out.
    enum Omission: CaseIterable {
        /// The look for work after a worker has said that it rests.
        case secondLook
        /// That who has found work sees to it that another one looks, if there is more.
        case nextSearcher
        /// That a worker that goes on after all says so in the roster.
        case takingBack
    }

    var submitters = 2
    var workers = 2
    var width: UInt8 = 2
    /// What each submitter submits.
    var each: UInt8 = 1
    var omission: Omission?

    // The cells of memory.
    private static let waiting = 0, searching = 1, running = 2, begun = 3, ran = 4, resting = 5
    private static func called(_ worker: Int) -> Int { 8 + worker }
    // The registers.
    private static let left = 0, isFirst = 1

    private var total: UInt8 { UInt8(submitters) * each }

    /// Explores on a thread of its own, since it takes a while.
    func explored() async -> Exploration { await onOwnThread { explore() } }

    private func explore() -> Exploration {
        var world = World(processors: Array(repeating: .init(), count: submitters + workers))
        for processor in 0..<submitters { world.processors[processor].registers[Self.left] = each }
        for worker in 0..<workers { world.memory[Self.resting] |= 1 << UInt8(worker) }
        let programs =
            (0..<submitters).map { _ in submitter } + (0..<workers).map { worker($0) }
        return ExecutionContextsTests.explore(programs, from: world)
    }

    // MARK: - Who submits

    private var submitter: Program {
        var program = Program()
        program.atomic("submit") { world, _ in
            world.memory[Self.waiting] += 1
            return .next
        }
        calling(&program, from: "submitting", then: "again")
        program.step("again") { world, me in
            world.processors[me].registers[Self.left] -= 1
            return world.processors[me].registers[Self.left] == 0 ? .end : .to("submit")
        }
        return program
    }

    /// Calls a worker if one may be called and none searches.
    private func calling(_ program: inout Program, from name: String, then next: String) {
        program.step("\(name): is there a vacancy?") { world, me in
            world.load(Self.running, by: me) < width ? .next : .to(next)
        }
        program.step("\(name): does nobody search?") { world, me in
            world.load(Self.searching, by: me) == 0 ? .next : .to(next)
        }
        program.atomic("\(name): call") { world, _ in
            let worker = (0..<workers).first { world.memory[Self.resting] & 1 << UInt8($0) != 0 }
            guard world.memory[Self.running] < width, let worker else { return .to(next) }
            world.memory[Self.resting] &= ~(1 << UInt8(worker))
            world.memory[Self.running] += 1
            // On its behalf. It could as well do so itself, when it has come; more would be called meanwhile.
            world.memory[Self.searching] += 1
            world.check(world.memory[Self.called(worker)] == 0, "a worker was called twice")
            world.memory[Self.called(worker)] = 1
            return .to(next)
        }
    }

    // MARK: - Who works

    private func worker(_ number: Int) -> Program {
        var program = Program()
        program.atomic("at rest") { world, _ in
            guard world.memory[Self.called(number)] == 1 else {
                return world.memory[Self.ran] == total ? .end : .blocked
            }
            world.memory[Self.called(number)] = 0
            return .next
        }
        program.atomic("find") { world, me in take(&world, me) ? .next : .to("rest") }
        program.atomic("found") { world, _ in
            world.memory[Self.searching] -= 1
            let wasLast = world.memory[Self.searching] == 0
            return wasLast && omission != .nextSearcher ? .next : .to("run")
        }
        program.step("is there more?") { world, me in
            world.load(Self.waiting, by: me) > 0 ? .next : .to("run")
        }
        calling(&program, from: "found", then: "run")
        program.step("run") { world, me in
            if world.processors[me].registers[Self.isFirst] == 1, world.memory[Self.ran] == 0, total > 1 {
                return .blocked
            }
            return .next
        }
        program.atomic("ran") { world, _ in
            world.memory[Self.ran] += 1
            return .next
        }
        program.atomic("next") { world, me in take(&world, me) ? .to("run") : .next }
        program.atomic("search") { world, _ in
            world.memory[Self.searching] += 1
            return .to("find")
        }
        program.atomic("rest") { world, _ in
            world.memory[Self.running] -= 1
            world.memory[Self.resting] |= 1 << UInt8(number)
            return .next
        }
        program.atomic("stop searching") { world, _ in
            world.memory[Self.searching] -= 1
            return omission == .secondLook ? .to("at rest") : .next
        }
        program.step("look again") { world, me in
            world.load(Self.waiting, by: me) > 0 ? .next : .to("at rest")
        }
        program.atomic("take back") { world, _ in
            let rests = world.memory[Self.resting] & 1 << UInt8(number) != 0
            guard rests, world.memory[Self.running] < width else { return .to("at rest") }
            if omission != .takingBack { world.memory[Self.resting] &= ~(1 << UInt8(number)) }
            world.memory[Self.running] += 1
            world.memory[Self.searching] += 1
            return .to("find")
        }
        return program
    }

    private func take(_ world: inout World, _ me: Int) -> Bool {
        guard world.memory[Self.waiting] > 0 else { return false }
        world.memory[Self.waiting] -= 1
        world.processors[me].registers[Self.isFirst] = world.memory[Self.begun] == 0 ? 1 : 0
        world.memory[Self.begun] += 1
        return true
    }
}
