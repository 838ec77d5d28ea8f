/// How a pool's workers come and go beside the submitters, step by step, for `explore`; with steps to leave out.
///
/// The first job waits until another one has run, so each worker that could run that must be called. The pool knows of
/// the wait if the job lends its place (`lends`); then it asks for a place before it goes on.
struct PoolModel {
    /// What a broken version leaves out.
    enum Omission: CaseIterable {
        /// The look for work after a worker has said that it rests.
        case secondLook
        /// That who has found work sees to it that another one looks, if there is more.
        case nextSearcher
        /// That a worker that goes on after all says so in the roster.
        case takingBack
        /// The look for work after a worker has lent its place.
        case lookAfterLending
        /// That a place that becomes free is given to a worker that waits for one.
        case admission
    }

    var submitters = 2
    var workers = 2
    var width: UInt8 = 2
    /// What each submitter submits.
    var each: UInt8 = 1
    var lends = false
    var omission: Omission?

    // The cells of memory.
    private static let waiting = 0, searching = 1, running = 2, begun = 3, ran = 4, resting = 5
    /// The workers that wait for a place, as bits, and a hint: one more than how many workers may be called.
    private static let returning = 6, vacancies = 7
    private static func called(_ worker: Int) -> Int { 8 + worker }
    private static func hasPlace(_ worker: Int) -> Int { 16 + worker }
    // The registers.
    private static let left = 0, isFirst = 1

    private var total: UInt8 { UInt8(submitters) * each }

    /// Explores on a thread of its own, since it takes a while.
    func explored() async -> Exploration { await onOwnThread { explore() } }

    private func explore() -> Exploration {
        var world = World(processors: Array(repeating: .init(), count: submitters + workers))
        for processor in 0..<submitters { world.processors[processor].registers[Self.left] = each }
        for worker in 0..<workers { world.memory[Self.resting] |= 1 << UInt8(worker) }
        publish(&world)
        let programs =
            (0..<submitters).map { _ in submitter } + (0..<workers).map { worker($0) }
        return ExecutionContextsTests.explore(programs, from: world)
    }

    // MARK: - The roster, under its lock

    private static let none: UInt8 = 8

    /// How many workers may be called, and `none`: less if workers are to leave.
    private func vacancies(_ world: World) -> UInt8 {
        Self.none + width - world.memory[Self.running]
            - UInt8(world.memory[Self.returning].nonzeroBitCount)
    }

    private func hasVacancy(_ world: World) -> Bool { vacancies(world) > Self.none }

    /// Gives the free places to the workers that wait for one, and shows how many may be called.
    private func publish(_ world: inout World) {
        for worker in 0..<workers where world.memory[Self.returning] & 1 << UInt8(worker) != 0 {
            guard world.memory[Self.running] < width, omission != .admission else { break }
            world.memory[Self.returning] &= ~(1 << UInt8(worker))
            world.memory[Self.running] += 1
            world.memory[Self.hasPlace(worker)] = 1
        }
        world.memory[Self.vacancies] = vacancies(world)
    }

    // MARK: - The submitters

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
            world.load(Self.vacancies, by: me) > Self.none ? .next : .to(next)
        }
        program.step("\(name): does nobody search?") { world, me in
            world.load(Self.searching, by: me) == 0 ? .next : .to(next)
        }
        program.atomic("\(name): call") { world, _ in
            let worker = (0..<workers).first { world.memory[Self.resting] & 1 << UInt8($0) != 0 }
            guard hasVacancy(world), let worker else { return .to(next) }
            world.memory[Self.resting] &= ~(1 << UInt8(worker))
            world.memory[Self.running] += 1
            publish(&world)
            // On its behalf. It could as well do so itself, when it has come; more would be called meanwhile.
            world.memory[Self.searching] += 1
            world.check(world.memory[Self.called(worker)] == 0, "a worker was called twice")
            world.memory[Self.called(worker)] = 1
            return .to(next)
        }
    }

    // MARK: - The workers

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
            guard world.processors[me].registers[Self.isFirst] == 1, total > 1 else { return .to("ran") }
            return lends ? .to("lend") : world.memory[Self.ran] == 0 ? .blocked : .to("ran")
        }
        lending(&program, number)
        program.atomic("ran") { world, _ in
            world.memory[Self.ran] += 1
            return .next
        }
        program.step("are there too many?") { world, me in
            world.load(Self.vacancies, by: me) < Self.none ? .to("leave") : .next
        }
        program.atomic("next") { world, me in take(&world, me) ? .to("run") : .next }
        program.atomic("search") { world, _ in
            world.memory[Self.searching] += 1
            return .to("find")
        }
        program.atomic("rest") { world, _ in
            end(&world, number)
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
            guard rests, hasVacancy(world) else { return .to("at rest") }
            if omission != .takingBack { world.memory[Self.resting] &= ~(1 << UInt8(number)) }
            world.memory[Self.running] += 1
            world.memory[Self.searching] += 1
            publish(&world)
            return .to("find")
        }
        leaving(&program, number)
        return program
    }

    /// The first job waits, and another worker may take its place meanwhile.
    private func lending(_ program: inout Program, _ number: Int) {
        program.atomic("lend") { world, _ in
            world.memory[Self.running] -= 1
            publish(&world)
            return omission == .lookAfterLending ? .to("wait") : .next
        }
        program.step("lent: is there work?") { world, me in
            world.load(Self.waiting, by: me) > 0 ? .next : .to("wait")
        }
        calling(&program, from: "lent", then: "wait")
        program.step("wait") { world, _ in world.memory[Self.ran] == 0 ? .blocked : .next }
        program.atomic("ask for a place") { world, _ in
            let hasPlace = world.memory[Self.running] < width && world.memory[Self.returning] == 0
            if hasPlace {
                world.memory[Self.running] += 1
            } else {
                world.memory[Self.returning] |= 1 << UInt8(number)
            }
            publish(&world)
            return hasPlace ? .to("ran") : .next
        }
        program.step("wait for a place") { world, _ in
            if world.memory[Self.hasPlace(number)] == 0 { return .blocked }
            world.memory[Self.hasPlace(number)] = 0
            return .to("ran")
        }
    }

    /// A worker gives its place to one that waits for it.
    private func leaving(_ program: inout Program, _ number: Int) {
        program.atomic("leave") { world, _ in
            guard vacancies(world) < Self.none else { return .to("next") }
            end(&world, number)
            return .next
        }
        program.step("left: is there work?") { world, me in
            world.load(Self.waiting, by: me) > 0 ? .next : .to("at rest")
        }
        calling(&program, from: "left", then: "at rest")
    }

    private func end(_ world: inout World, _ number: Int) {
        world.memory[Self.running] -= 1
        world.memory[Self.resting] |= 1 << UInt8(number)
        publish(&world)
    }

    private func take(_ world: inout World, _ me: Int) -> Bool {
        guard world.memory[Self.waiting] > 0 else { return false }
        world.memory[Self.waiting] -= 1
        world.processors[me].registers[Self.isFirst] = world.memory[Self.begun] == 0 ? 1 : 0
        world.memory[Self.begun] += 1
        return true
    }
}
