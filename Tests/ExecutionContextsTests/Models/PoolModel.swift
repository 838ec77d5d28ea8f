/// How a pool's workers start and go idle beside its submitters, step by step, for `explore`.
/// An `Omission` leaves out one step.
///
/// The first job waits until another one has run, so a worker that could run the other one must
/// start. The pool knows of the wait if `announcesWait` is set. The waiting worker then has no
/// permit, and takes one again before it continues.
struct PoolModel {
    /// The step that a broken version leaves out.
    enum Omission: CaseIterable {
        /// The second look for jobs, after a worker has joined the idle set.
        case secondLook
        /// That the last searcher that finds a job starts the next one, if there are more jobs.
        case nextSearcher
        /// That a worker that continues after all leaves the idle set.
        case takingBack
        /// The look for jobs after a worker has given up its permit to block.
        case lookAfterBlocking
        /// That a free permit goes to a worker that waits for one.
        case admitReturning
    }

    var submitters = 2
    var workers = 2
    var width: UInt8 = 2
    /// How many jobs each submitter submits.
    var each: UInt8 = 1
    /// Whether the first job waits in a blocking scope.
    var announcesWait = false
    var omission: Omission?

    // The addresses in memory.
    private static let waiting = 0, searching = 1, running = 2, begun = 3, ran = 4, idle = 5
    /// `returning` has a bit for each worker that waits for a permit. `vacancies` is a hint: `none`
    /// and how many workers may start.
    private static let returning = 6, vacancies = 7
    private static func isStarted(_ worker: Int) -> Int { 8 + worker }
    private static func hasPermit(_ worker: Int) -> Int { 16 + worker }
    // The registers.
    private static let left = 0, isFirst = 1

    private var total: UInt8 { UInt8(submitters) * each }

    /// Explores on a thread of its own, since it takes seconds.
    func explored() async -> Exploration { await onOwnThread { explore() } }

    private func explore() -> Exploration {
        var world = World(processors: Array(repeating: .init(), count: submitters + workers))
        for processor in 0..<submitters { world.processors[processor].registers[Self.left] = each }
        for worker in 0..<workers { world.memory[Self.idle] |= 1 << UInt8(worker) }
        publish(&world)
        let programs =
            (0..<submitters).map { _ in submitter } + (0..<workers).map { worker($0) }
        return ExecutionContextsTests.explore(programs, from: world)
    }

    // MARK: - The accounting, under its lock

    private static let none: UInt8 = 8

    /// How many workers may start, plus `none`; less than `none` if some are to leave.
    private func vacancies(_ world: World) -> UInt8 {
        Self.none + width - world.memory[Self.running]
            - UInt8(world.memory[Self.returning].nonzeroBitCount)
    }

    private func hasVacancy(_ world: World) -> Bool { vacancies(world) > Self.none }

    /// Gives free permits to the workers that wait for one, and publishes how many may start.
    private func publish(_ world: inout World) {
        for worker in 0..<workers where world.memory[Self.returning] & 1 << UInt8(worker) != 0 {
            guard world.memory[Self.running] < width, omission != .admitReturning else { break }
            world.memory[Self.returning] &= ~(1 << UInt8(worker))
            world.memory[Self.running] += 1
            world.memory[Self.hasPermit(worker)] = 1
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
        starting(&program, from: "submitting", then: "again")
        program.step("again") { world, me in
            world.processors[me].registers[Self.left] -= 1
            return world.processors[me].registers[Self.left] == 0 ? .end : .to("submit")
        }
        return program
    }

    /// Starts a worker if one may start and none searches.
    private func starting(_ program: inout Program, from name: String, then next: String) {
        program.step("\(name): is there a vacancy?") { world, me in
            world.load(Self.vacancies, by: me) > Self.none ? .next : .to(next)
        }
        program.step("\(name): is there no searcher?") { world, me in
            world.load(Self.searching, by: me) == 0 ? .next : .to(next)
        }
        program.atomic("\(name): start") { world, _ in
            let worker = (0..<workers).first { world.memory[Self.idle] & 1 << UInt8($0) != 0 }
            guard hasVacancy(world), let worker else { return .to(next) }
            world.memory[Self.idle] &= ~(1 << UInt8(worker))
            world.memory[Self.running] += 1
            publish(&world)
            // On the worker's behalf, so that no other one is started before it has searched.
            world.memory[Self.searching] += 1
            world.check(world.memory[Self.isStarted(worker)] == 0, "a worker was started twice")
            world.memory[Self.isStarted(worker)] = 1
            return .to(next)
        }
    }

    // MARK: - The workers

    private func worker(_ number: Int) -> Program {
        var program = Program()
        program.atomic("idle") { world, _ in
            guard world.memory[Self.isStarted(number)] == 1 else {
                return world.memory[Self.ran] == total ? .end : .blocked
            }
            world.memory[Self.isStarted(number)] = 0
            return .next
        }
        // A searcher leaves only if a worker has continued since it was started. Here it leaves in
        // any case, which includes that one.
        program.step("do too many run?") { world, me in
            world.load(Self.vacancies, by: me) < Self.none ? .next : .to("find")
        }
        program.atomic("is the searcher one of them?") { world, _ in
            vacancies(world) < Self.none ? .to("join the idle set") : .next
        }
        program.atomic("find") { world, me in take(&world, me) ? .next : .to("join the idle set") }
        program.atomic("found") { world, _ in
            world.memory[Self.searching] -= 1
            let wasLast = world.memory[Self.searching] == 0
            return wasLast && omission != .nextSearcher ? .next : .to("run")
        }
        program.step("is there more?") { world, me in
            world.load(Self.waiting, by: me) > 0 ? .next : .to("run")
        }
        starting(&program, from: "found", then: "run")
        program.step("run") { world, me in
            guard world.processors[me].registers[Self.isFirst] == 1, total > 1 else {
                return .to("ran")
            }
            return announcesWait
                ? .to("begin a wait") : world.memory[Self.ran] == 0 ? .blocked : .to("ran")
        }
        blocking(&program, number)
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
            return .to("do too many run?")
        }
        program.atomic("join the idle set") { world, _ in
            end(&world, number)
            return .next
        }
        program.atomic("stop searching") { world, _ in
            world.memory[Self.searching] -= 1
            return omission == .secondLook ? .to("idle") : .next
        }
        program.step("look again") { world, me in
            world.load(Self.waiting, by: me) > 0 ? .next : .to("idle")
        }
        program.atomic("take back") { world, _ in
            let isIdle = world.memory[Self.idle] & 1 << UInt8(number) != 0
            guard isIdle, hasVacancy(world) else { return .to("idle") }
            if omission != .takingBack { world.memory[Self.idle] &= ~(1 << UInt8(number)) }
            world.memory[Self.running] += 1
            world.memory[Self.searching] += 1
            publish(&world)
            return .to("do too many run?")
        }
        leaving(&program, number)
        return program
    }

    /// The first job waits, and another worker may take its permit meanwhile.
    private func blocking(_ program: inout Program, _ number: Int) {
        program.atomic("begin a wait") { world, _ in
            world.memory[Self.running] -= 1
            publish(&world)
            return omission == .lookAfterBlocking ? .to("wait") : .next
        }
        program.step("blocked: is there work?") { world, me in
            world.load(Self.waiting, by: me) > 0 ? .next : .to("wait")
        }
        starting(&program, from: "blocked", then: "wait")
        program.step("wait") { world, _ in world.memory[Self.ran] == 0 ? .blocked : .next }
        program.atomic("ask for a permit") { world, _ in
            let hasPermit = world.memory[Self.running] < width && world.memory[Self.returning] == 0
            if hasPermit {
                world.memory[Self.running] += 1
            } else {
                world.memory[Self.returning] |= 1 << UInt8(number)
            }
            publish(&world)
            return hasPermit ? .to("ran") : .next
        }
        program.step("wait for a permit") { world, _ in
            if world.memory[Self.hasPermit(number)] == 0 { return .blocked }
            world.memory[Self.hasPermit(number)] = 0
            return .to("ran")
        }
    }

    /// A worker leaves, so that another one can have its permit.
    private func leaving(_ program: inout Program, _ number: Int) {
        program.atomic("leave") { world, _ in
            guard vacancies(world) < Self.none else { return .to("next") }
            end(&world, number)
            return .next
        }
        program.step("left: is there work?") { world, me in
            world.load(Self.waiting, by: me) > 0 ? .next : .to("idle")
        }
        starting(&program, from: "left", then: "idle")
    }

    private func end(_ world: inout World, _ number: Int) {
        world.memory[Self.running] -= 1
        world.memory[Self.idle] |= 1 << UInt8(number)
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
