/// The protocol of `LockExclusion`, step by step, for `explore`. An `Omission` leaves out one part.
///
/// The processors run scripts. One may be the write context, which runs the requested drains. One
/// may be the pool, or the reserve thread in its stead: it runs the admitted enqueued reads.
struct CoordinatorModel {
    enum Operation {
        case read, write, enqueue
        /// Enqueues a read; at most once in a script.
        case enqueueRead
    }

    enum Role {
        /// Runs these operations in order. A thread that helps runs the writes that it waits for.
        /// An impatient thread may give up waiting at any time.
        case thread([Operation], helps: Bool = false, isImpatient: Bool = false)
        case writeContext
        case pool
    }

    /// The part of the protocol that a broken version leaves out.
    enum Omission: CaseIterable {
        /// The barrier between revoking the bias and scanning the reader slots.
        case barrier
        /// Scanning the reader slots.
        case scan
        /// Revoking the bias.
        case bias
        /// The slot reader's second load of the state, after its announcement.
        case secondLook
        /// Admitting waiters when a slot reader leaves.
        case admittingAfterSlotRead
        /// Admitting waiters when the last counted reader leaves.
        case admittingAfterCountedRead
        /// Admitting waiters when an announcement is withdrawn.
        case admittingAfterWithdrawal
        /// The try after joining the wait queue.
        case lastTry
        /// Closing admission when a write is enqueued.
        case closing
        /// Closing admission when a read is enqueued.
        case closingForRead
        /// That a waiting writer does not enter before an enqueued read queued before it.
        case precedence
        /// The same, where the writer is inside already, having run the writes before it.
        case precedenceAfterHelping
        /// That no enqueued write runs before a read that was enqueued before it.
        case limitAtRead
        /// Requesting another drain when the last reader leaves.
        case drainRequest
    }

    var roles: [Role]
    var isBiased = true
    var isPortable = false
    /// Whether an overtaken waiter looks at the clock, and so tries once more by itself.
    var hasClock = false
    var omission: Omission?

    /// Explores on a thread of its own, since it takes seconds.
    func explored() async -> Exploration { await onOwnThread { explore() } }

    private func explore() -> Exploration {
        var world = World(processors: Array(repeating: .init(), count: roles.count))
        if isBiased { world.memory[Address.state] = Flag.biased }
        for (index, role) in roles.enumerated() {
            guard case .thread(_, let helps, let isImpatient) = role else { continue }
            world.memory[Address.helps(index)] = helps ? 1 : 0
            world.memory[Address.isImpatient(index)] = isImpatient ? 1 : 0
        }
        return ExecutionContextsTests.explore(roles.indices.map(program), from: world)
    }

    private func program(_ me: Int) -> Program {
        var program = Program()
        switch roles[me] {
        case .thread(let script, _, _): addScript(script, to: &program)
        case .writeContext: addDrains(to: &program)
        case .pool: addPool(to: &program)
        }
        addExclusion(to: &program)
        addAdmitting(to: &program)
        return program
    }

    // MARK: The script

    private func addScript(_ script: [Operation], to program: inout Program) {
        program.step("begin") { world, me in
            let done = Int(world[me, .done])
            guard done < script.count else { return .end }
            world[me, .done] += 1
            switch script[done] {
            case .read: return .to("load the state")
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
        program.step("load the state") { world, _ in
            world.memory[Address.state] & Flag.admission == Flag.biased
                ? .to("announce") : .to("choose")
        }
        addStore(1, "announce", to: &program)
        program.step("load the state again") { world, me in
            if omission != .secondLook, world.memory[Address.state] & Flag.admission != Flag.biased
            {
                return .to("withdraw")
            }
            world[me, .isCounted] = 0
            return .to("reading")
        }
        addStore(0, "withdraw", to: &program)
        program.step("must the withdrawal admit waiters?") { world, me in
            guard world.memory[Address.state] & Flag.revoking != 0,
                omission != .admittingAfterWithdrawal
            else {
                return .to("choose")
            }
            return world.admitNext(me, then: .choose)
        }
        program.step("choose") { _, _ in .either(["count", "count and restore the bias"]) }
        program.atomic("count") { world, me in
            world.count(me) ? .to("reading") : .to("wait to read")
        }
        program.atomic("count and restore the bias") { world, me in
            let canRestore = world.memory[Address.state] & (Flag.biased | Flag.hasWaiters) == 0
            guard canRestore, world.count(me) else { return .to("count") }
            world.memory[Address.state] = world.memory[Address.state] & ~Flag.revoking | Flag.biased
            return .to("reading")
        }
        program.step("reading") { world, me in
            world.memory[Address.readersInside] += 1
            world.check(
                world.memory[Address.writersInside] == 0, "a reader enters while a writer is inside"
            )
            world.check(
                world.memory[Address.run] >= world[me, .mine], "a reader misses its own write")
            return .next
        }
        program.step("end reading") { world, me in
            world.check(
                world.memory[Address.writersInside] == 0,
                "a writer has entered while a reader is inside")
            world.memory[Address.readersInside] -= 1
            return world[me, .isCounted] == 1 ? .to("uncount") : .to("clear the slot")
        }
        addStore(0, "clear the slot", to: &program)
        program.step("must the slot reader admit waiters?") { world, me in
            guard world.memory[Address.state] & Flag.revoking != 0,
                omission != .admittingAfterSlotRead
            else {
                return .to("begin")
            }
            return world.admitNext(me, then: .begin)
        }
        program.atomic("uncount") { world, me in
            world.memory[Address.readers] -= 1
            guard world.memory[Address.readers] == 0, world.mustAdmitNext,
                omission != .admittingAfterCountedRead
            else {
                return .to("begin")
            }
            return world.admitNext(me, then: .begin)
        }
    }

    /// A store into the processor's reader slot. In portable mode it is an exchange.
    private func addStore(_ value: UInt8, _ name: String, to program: inout Program) {
        if isPortable {
            program.atomic(name) { world, me in
                world.memory[Address.slot(me)] = value
                return .next
            }
        } else {
            program.step(name) { world, me in
                world.store(value, in: Address.slot(me), by: me)
                return .next
            }
        }
    }

    private func addWriting(to program: inout Program) {
        program.atomic("write") { world, me in
            guard world.isVacant, world.memory[Address.state] & Flag.closed == 0 else {
                return .to("wait to write")
            }
            world.memory[Address.state] |= Flag.exclusive
            return .to("writing")
        }
        program.step("writing") { world, me in
            world.beginWriting()
            world.check(
                world.memory[Address.run] >= world[me, .mine], "a writer overtakes its own write")
            world.check(
                world.memory[Address.isEnqueued(me)] == 0, "a writer overtakes its own read")
            return .next
        }
        program.step("end writing") { world, _ in
            world.memory[Address.writersInside] -= 1
            return .next
        }
        program.atomic("leave writing") { world, me in
            let mustAdmitNext = world.mustAdmitNext
            world.memory[Address.state] &= ~Flag.exclusive
            return mustAdmitNext ? world.admitNext(me, then: .begin) : .to("begin")
        }
        program.atomic("enqueue") { world, me in
            guard world.lock() else { return .blocked }
            world.memory[Address.submitted] += 1
            world[me, .mine] = world.memory[Address.submitted]
            world[me, .mustRequestDrain] = 1 - world.memory[Address.isDrainRequested]
            world.memory[Address.isDrainRequested] = 1
            return .next
        }
        program.atomic("close admission") { world, _ in
            if omission != .closing { world.publish(omission) }
            world.unlock()
            return .next
        }
        program.atomic("request a drain") { world, me in
            world.memory[Address.drains] += world[me, .mustRequestDrain]
            return .to("begin")
        }
        program.atomic("enqueue a read") { world, me in
            guard world.lock() else { return .blocked }
            world.appendRead(of: me)
            world[me, .resumption] = Resumption.begin.rawValue
            return .to("admit next")
        }
    }
}
