extension CoordinatorModel {
    func addWaiting(to program: inout Program) {
        program.step("wait to read") { world, me in
            world[me, .wantsExclusive] = 0
            world[me, .position] = .max
            return .to("look")
        }
        program.step("wait to write") { world, me in
            world[me, .wantsExclusive] = 1
            world[me, .position] = .max
            return .to("look")
        }
        program.atomic("look") { world, me in
            guard world.lock() else { return .blocked }
            if world[me, .position] == .max {
                world[me, .position] = world.memory[Address.submitted]
                world.memory[Address.position(me)] = world.memory[Address.submitted]
            }
            if world.memory[Address.isAdmitted(me)] == 1 {
                world.memory[Address.isAdmitted(me)] = 0
                world[me, .isCounted] = 1
                world[me, .isTimedOut] = 0
                world.unlock()
                return .to("reading")
            }
            world[me, .wasWoken] = world.memory[Address.woken(me)]
            guard world[me, .wasWoken] == 1 else { return .to("try") }
            world.memory[Address.woken(me)] = 0
            world.memory[Address.wakePending] = 0
            return .next
        }
        program.atomic("publish that the wake-up arrived") { world, _ in
            world.publish(omission)
            return .next
        }
        program.atomic("try") { world, me in
            if world[me, .position] > world.memory[Address.completed] {
                guard world.memory[Address.helps(me)] == 1,
                    world.memory[Address.completed] < world.limit(omission)
                else {
                    return .to("failed")
                }
                world[me, .purpose] = Purpose.help
                return .to("exclude")
            }
            if world.memory[Address.starving] == 1, world.waitQueue.first != me {
                return .to("failed")
            }
            if world[me, .wantsExclusive] == 1 {
                if omission != .precedence, world.hasReadyRead(before: me) { return .to("failed") }
                world[me, .purpose] = Purpose.enter
                return .to("exclude")
            }
            return world.countAdmitted(me) ? .to("leave the queue") : .to("failed")
        }
        program.atomic("leave the queue") { world, me in
            world.remove(me)
            world[me, .isTimedOut] = 0
            return world[me, .wantsExclusive] == 1 ? .next : .to("admit next and read")
        }
        program.atomic("publish the queue without it") { world, _ in
            world.publish(omission)
            world.unlock()
            return .to("writing")
        }
        program.step("admit next and read") { world, me in
            world[me, .isCounted] = 1
            world[me, .resumption] = Resumption.reading.rawValue
            return .to("admit next")
        }
        program.atomic("failed") { world, me in
            if world[me, .isTimedOut] == 1 { return .to("give up") }
            if world.waitQueue.contains(me) { return .either(["starve", "stay"]) }
            world.append(me)
            return .next
        }
        program.atomic("publish the queue with it") { world, _ in
            world.publish(omission)
            return omission == .lastTry ? .to("stay") : .to("try")
        }
        program.atomic("starve") { world, me in
            // In the library the clock decides. Here both outcomes are tried.
            guard world.isOvertaken(me) else { return .to("stay") }
            world.memory[Address.starving] = 1
            world.publish(omission)
            return .next
        }
        program.atomic("stay") { world, me in
            guard world[me, .wasWoken] == 1 else { return .to("unlock and park") }
            world[me, .resumption] = Resumption.park.rawValue
            return .to("admit next")
        }
        program.atomic("give up") { world, me in
            world[me, .isTimedOut] = 0
            world.remove(me)
            world[me, .resumption] = Resumption.begin.rawValue
            return .to("admit next")
        }
        program.atomic("unlock and park") { world, _ in
            world.unlock()
            return .next
        }
        program.atomic("park") { world, me in
            if world.memory[Address.parkToken(me)] == 1 { return .to("wake up") }
            if world.memory[Address.isImpatient(me)] == 1 { return .to("time out") }
            return hasClock && world.isOvertaken(me) ? .to("look") : .blocked
        }
        program.atomic("wake up") { world, me in
            world.memory[Address.parkToken(me)] = 0
            return .to("look")
        }
        program.atomic("time out") { world, me in
            world[me, .isTimedOut] = 1
            return .to("look")
        }
        addHelping(to: &program)
    }

    private func addHelping(to program: inout Program) {
        program.step("help") { world, me in
            world[me, .ran] = 0
            return .next
        }
        program.step("help with one write") { world, me in
            let next = world.memory[Address.completed] + world[me, .ran]
            guard next < min(world[me, .position], world.limit(omission)) else {
                return .to("end helping")
            }
            world[me, .ran] += 1
            world.beginWriting()
            world.memory[Address.run] += 1
            return .next
        }
        program.step("end one write") { world, _ in
            world.memory[Address.writersInside] -= 1
            return .to("help with one write")
        }
        program.atomic("end helping") { world, me in
            guard world.lock() else { return .blocked }
            world.memory[Address.completed] += world[me, .ran]
            let isBehindRead =
                world[me, .wantsExclusive] == 1 && omission != .precedenceAfterHelping
                && world.hasReadyRead(before: me)
            guard world[me, .position] <= world.memory[Address.completed], !isBehindRead else {
                return .to("leave after helping")
            }
            if world[me, .wantsExclusive] == 0 {
                world.memory[Address.state] &= ~Flag.exclusive
                world.memory[Address.readers] += 1
            }
            return .to("leave the queue")
        }
        program.atomic("leave after helping") { world, me in
            world.publish(omission, leaving: true)
            world[me, .resumption] = Resumption.look.rawValue
            return .to("admit next")
        }
    }

    /// The write context: begins drains, runs writes, and ends when no more drain can come.
    func addDrains(to program: inout Program) {
        program.atomic("drain") { world, me in
            if world.memory[Address.drains] > 0 {
                world.memory[Address.drains] -= 1
                return .next
            }
            let isAllDone = haveThreadsEnded(world) && !world.hasReads
            return isAllDone && world.memory[Address.completed] == world.memory[Address.submitted]
                ? .end : .blocked
        }
        program.atomic("begin the drain") { world, me in
            guard world.lock() else { return .blocked }
            world.memory[Address.isDrainRequested] = 0
            world[me, .ran] = 0
            world[me, .purpose] = Purpose.drain
            return world.memory[Address.completed] < world.limit(omission)
                ? .to("exclude") : .to("failed")
        }
        program.atomic("failed") { world, _ in
            world.unlock()
            return .to("drain")
        }
        program.step("run one write") { world, me in
            guard world.memory[Address.completed] + world[me, .ran] < world.limit(omission) else {
                return .to("end the drain")
            }
            world[me, .ran] += 1
            world.beginWriting()
            world.memory[Address.run] += 1
            return .next
        }
        program.step("end one write") { world, _ in
            world.memory[Address.writersInside] -= 1
            return .to("run one write")
        }
        program.atomic("end the drain") { world, me in
            guard world.lock() else { return .blocked }
            world.memory[Address.completed] += world[me, .ran]
            return .next
        }
        program.atomic("leave after the drain") { world, me in
            world.publish(omission, leaving: true)
            world[me, .resumption] = Resumption.drain.rawValue
            return .to("admit next")
        }
    }

    /// How the lock owner enters exclusively.
    func addExclusion(to program: inout Program) {
        program.atomic("exclude") { world, _ in
            let state = world.memory[Address.state]
            if state & Flag.exclusive != 0 || world.memory[Address.readers] > 0 {
                return .to("failed")
            }
            if state & Flag.biased != 0 { return .next }
            return state & Flag.revoking != 0 ? .to("scan") : .to("enter exclusively")
        }
        program.atomic("revoke the bias") { world, _ in
            if omission != .bias { world.memory[Address.state] &= ~Flag.biased }
            world.memory[Address.state] |= Flag.revoking
            return omission == .barrier || isPortable ? .to("scan") : .next
        }
        program.barrier("barrier", processors: roles.count)
        program.step("scan") { _, _ in .next }
        for processor in roles.indices {
            program.step("scan \(processor)") { world, me in
                let isAnnounced =
                    omission != .scan && world.load(Address.slot(processor), by: me) == 1
                return isAnnounced ? .to("failed") : .next
            }
        }
        program.atomic("find no slot reader") { world, _ in
            world.memory[Address.state] &= ~Flag.revoking
            return .next
        }
        program.atomic("enter exclusively") { world, me in
            // A version that does not revoke the bias does not check for it here either.
            guard world.isVacant || omission == .bias && world.isVacantExceptBias else {
                return .to("failed")
            }
            world.memory[Address.state] |= Flag.exclusive
            if world[me, .purpose] == Purpose.enter { return .to("leave the queue") }
            world.unlock()
            return world[me, .purpose] == Purpose.help ? .to("help") : .to("run one write")
        }
    }
}
