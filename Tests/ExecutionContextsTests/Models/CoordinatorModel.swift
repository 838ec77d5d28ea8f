/// The protocol of `ReadWriteCore`, step by step, for `explore`; with parts that can be left out.
///
/// The processors run scripts. One may be the carrier, which takes the turns that it is asked for. One may be the
/// pool, or the reserve where that has no thread: it runs the enqueued reads that have been counted in.
struct CoordinatorModel {
    enum Operation {
        case read, write, enqueue
        /// Enqueues a read; at most once in a script.
        case enqueueRead
    }

    enum Role {
        /// Runs these, one after the other; a thread that helps runs the writes that it waits for.
        /// An impatient one may give up waiting at any time.
        case thread([Operation], helps: Bool = false, isImpatient: Bool = false)
        case carrier
        case pool
    }

    /// What a broken version leaves out.
    enum Omission: CaseIterable {
        /// The barrier between taking the bias back and looking at the claims.
        case barrier
        /// Looking at the claims.
        case scan
        /// Taking the bias back.
        case bias
        /// The reader's second look, after its claim.
        case secondLook
        /// Telling who waits that a reader by claim has left.
        case tellingAfterClaim
        /// Telling who waits that the last counted reader has left.
        case tellingAfterCount
        /// Telling who waits that a claim was withdrawn.
        case tellingAfterWithdrawal
        /// The try after joining the line.
        case lastTry
        /// Closing the doors when a write is enqueued.
        case closing
        /// Closing them when a read is enqueued.
        case closingForRead
        /// That a waiting writer does not enter before an enqueued read that stands before it.
        case precedence
        /// The same, where the writer has run the writes before it and is inside already.
        case precedenceAfterHelping
        /// That no write runs before an enqueued read that was enqueued before the write.
        case limitAtRead
        /// Asking for another turn when the last reader has left.
        case turn
    }

    var roles: [Role]
    var isBiased = true
    var isPortable = false
    /// Whether who is overtaken looks at the clock, and so tries once more by itself.
    var hasClock = false
    var omission: Omission?

    /// Explores on a thread of its own, since it takes a while.
    func explored() async -> Exploration { await onOwnThread { explore() } }

    private func explore() -> Exploration {
        var world = World(processors: Array(repeating: .init(), count: roles.count))
        if isBiased { world.memory[Cell.state] = Flag.biased }
        for (index, role) in roles.enumerated() {
            guard case .thread(_, let helps, let isImpatient) = role else { continue }
            world.memory[Cell.helps(index)] = helps ? 1 : 0
            world.memory[Cell.isImpatient(index)] = isImpatient ? 1 : 0
        }
        return ExecutionContextsTests.explore(roles.indices.map(program), from: world)
    }

    private func program(_ me: Int) -> Program {
        var program = Program()
        switch roles[me] {
        case .thread(let script, _, _): addScript(script, to: &program)
        case .carrier: addTurns(to: &program)
        case .pool: addPool(to: &program)
        }
        addExclusion(to: &program)
        addSettling(to: &program)
        return program
    }

    // MARK: The script

    private func addScript(_ script: [Operation], to program: inout Program) {
        program.step("begin") { world, me in
            let done = Int(world[me, .done])
            guard done < script.count else { return .end }
            world[me, .done] += 1
            switch script[done] {
            case .read: return .to("look")
            case .write: return .to("write")
            case .enqueue: return .to("enqueue")
            case .enqueueRead: return .to("enqueue a read")
            }
        }
        addReading(to: &program)
        addWriting(to: &program)
        addWaiting(to: &program)
    }

    private func addReading(to program: inout Program) {
        program.step("look") { world, _ in
            world.memory[Cell.state] & Flag.doors == Flag.biased ? .to("claim") : .to("choose")
        }
        addStore(1, "claim", to: &program)
        program.step("look again") { world, me in
            if omission != .secondLook, world.memory[Cell.state] & Flag.doors != Flag.biased {
                return .to("withdraw")
            }
            world[me, .isCounted] = 0
            return .to("reading")
        }
        addStore(0, "withdraw", to: &program)
        program.step("is the withdrawal awaited?") { world, me in
            guard world.memory[Cell.state] & Flag.claimed != 0, omission != .tellingAfterWithdrawal else {
                return .to("choose")
            }
            return world.settle(me, then: .choose)
        }
        program.step("choose") { _, _ in .either(["count", "count and bring the bias back"]) }
        program.atomic("count") { world, me in world.count(me) ? .to("reading") : .to("wait to read") }
        program.atomic("count and bring the bias back") { world, me in
            let isCalm = world.memory[Cell.state] & (Flag.biased | Flag.waited) == 0
            guard isCalm, world.count(me) else { return .to("count") }
            world.memory[Cell.state] = world.memory[Cell.state] & ~Flag.claimed | Flag.biased
            return .to("reading")
        }
        program.step("reading") { world, me in
            world.memory[Cell.readersInside] += 1
            world.check(world.memory[Cell.writersInside] == 0, "a reader enters while a writer is inside")
            world.check(world.memory[Cell.run] >= world[me, .mine], "a reader misses its own write")
            return .next
        }
        program.step("have read") { world, me in
            world.check(
                world.memory[Cell.writersInside] == 0, "a writer has entered while a reader is inside")
            world.memory[Cell.readersInside] -= 1
            return world[me, .isCounted] == 1 ? .to("uncount") : .to("take the claim back")
        }
        addStore(0, "take the claim back", to: &program)
        program.step("is the claim awaited?") { world, me in
            guard world.memory[Cell.state] & Flag.claimed != 0, omission != .tellingAfterClaim else {
                return .to("begin")
            }
            return world.settle(me, then: .begin)
        }
        program.atomic("uncount") { world, me in
            world.memory[Cell.readers] -= 1
            guard world.memory[Cell.readers] == 0, world.isAwaited, omission != .tellingAfterCount else {
                return .to("begin")
            }
            return world.settle(me, then: .begin)
        }
    }

    /// A store into the processor's slot; in the portable mode an exchange.
    private func addStore(_ value: UInt8, _ name: String, to program: inout Program) {
        if isPortable {
            program.atomic(name) { world, me in
                world.memory[Cell.slot(me)] = value
                return .next
            }
        } else {
            program.step(name) { world, me in
                world.store(value, in: Cell.slot(me), by: me)
                return .next
            }
        }
    }

    private func addWriting(to program: inout Program) {
        program.atomic("write") { world, me in
            guard world.isVacant, world.memory[Cell.state] & Flag.closed == 0 else {
                return .to("wait to write")
            }
            world.memory[Cell.state] |= Flag.exclusive
            return .to("writing")
        }
        program.step("writing") { world, me in
            world.beginWriting()
            world.check(world.memory[Cell.run] >= world[me, .mine], "a writer overtakes its own write")
            world.check(world.memory[Cell.isEnqueued(me)] == 0, "a writer overtakes its own read")
            return .next
        }
        program.step("have written") { world, _ in
            world.memory[Cell.writersInside] -= 1
            return .next
        }
        program.atomic("leave writing") { world, me in
            let isAwaited = world.isAwaited
            world.memory[Cell.state] &= ~Flag.exclusive
            return isAwaited ? world.settle(me, then: .begin) : .to("begin")
        }
        program.atomic("enqueue") { world, me in
            guard world.lock() else { return .blocked }
            world.memory[Cell.submitted] += 1
            world[me, .mine] = world.memory[Cell.submitted]
            world[me, .mustAsk] = 1 - world.memory[Cell.turnComing]
            world.memory[Cell.turnComing] = 1
            return .next
        }
        program.atomic("close the doors") { world, _ in
            if omission != .closing { world.publish(omission) }
            world.unlock()
            return .next
        }
        program.atomic("ask for a turn") { world, me in
            world.memory[Cell.turns] += world[me, .mustAsk]
            return .to("begin")
        }
        program.atomic("enqueue a read") { world, me in
            guard world.lock() else { return .blocked }
            world.appendRead(of: me)
            world[me, .back] = Back.begin.rawValue
            return .to("settle")
        }
    }
}
