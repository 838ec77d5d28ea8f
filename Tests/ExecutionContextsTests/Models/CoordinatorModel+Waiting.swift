extension CoordinatorModel {
    func addWaiting(to program: inout Program) {
        program.step("wait to read") { world, me in
            world[me, .wantsAlone] = 0
            world[me, .position] = .max
            return .to("attempt")
        }
        program.step("wait to write") { world, me in
            world[me, .wantsAlone] = 1
            world[me, .position] = .max
            return .to("attempt")
        }
        program.atomic("attempt") { world, me in
            guard world.lock() else { return .blocked }
            if world[me, .position] == .max {
                world[me, .position] = world.memory[Cell.submitted]
                world.memory[Cell.position(me)] = world.memory[Cell.submitted]
            }
            if world.memory[Cell.isIn(me)] == 1 {
                world.memory[Cell.isIn(me)] = 0
                world[me, .isCounted] = 1
                world[me, .isLate] = 0
                world.unlock()
                return .to("reading")
            }
            world[me, .wasWoken] = world.memory[Cell.woken(me)]
            guard world[me, .wasWoken] == 1 else { return .to("try") }
            world.memory[Cell.woken(me)] = 0
            world.memory[Cell.wakePending] = 0
            return .next
        }
        program.atomic("publish that it has woken") { world, _ in
            world.publish(omission)
            return .next
        }
        program.atomic("try") { world, me in
            if world[me, .position] > world.memory[Cell.completed] {
                guard world.memory[Cell.helps(me)] == 1, world.memory[Cell.completed] < world.limit(omission)
                else {
                    return .to("failed")
                }
                world[me, .purpose] = Purpose.help
                return .to("exclude")
            }
            if world.memory[Cell.starving] == 1, world.line.first != me { return .to("failed") }
            if world[me, .wantsAlone] == 1 {
                if omission != .precedence, world.hasReadyRead(before: me) { return .to("failed") }
                world[me, .purpose] = Purpose.enter
                return .to("exclude")
            }
            return world.countIn(me) ? .to("is in") : .to("failed")
        }
        program.atomic("is in") { world, me in
            world.remove(me)
            world[me, .isLate] = 0
            return world[me, .wantsAlone] == 1 ? .next : .to("settle in")
        }
        program.atomic("publish that it is in") { world, _ in
            world.publish(omission)
            world.unlock()
            return .to("writing")
        }
        program.step("settle in") { world, me in
            world[me, .isCounted] = 1
            world[me, .back] = Back.reading.rawValue
            return .to("settle")
        }
        program.atomic("failed") { world, me in
            if world[me, .isLate] == 1 { return .to("give up") }
            if world.line.contains(me) { return .either(["starve", "stay"]) }
            world.append(me)
            return .next
        }
        program.atomic("publish that it waits") { world, _ in
            world.publish(omission)
            return omission == .lastTry ? .to("stay") : .to("try")
        }
        program.atomic("starve") { world, me in
            // Whether it has waited long enough is a matter of time; here, of chance.
            guard world.isOvertaken(me) else { return .to("stay") }
            world.memory[Cell.starving] = 1
            world.publish(omission)
            return .next
        }
        program.atomic("stay") { world, me in
            guard world[me, .wasWoken] == 1 else { return .to("let go") }
            world[me, .back] = Back.sleep.rawValue
            return .to("settle")
        }
        program.atomic("give up") { world, me in
            world[me, .isLate] = 0
            world.remove(me)
            world[me, .back] = Back.begin.rawValue
            return .to("settle")
        }
        program.atomic("let go") { world, _ in
            world.unlock()
            return .next
        }
        program.atomic("sleep") { world, me in
            if world.memory[Cell.token(me)] == 1 { return .to("wake up") }
            if world.memory[Cell.isImpatient(me)] == 1 { return .to("be late") }
            return hasClock && world.isOvertaken(me) ? .to("attempt") : .blocked
        }
        program.atomic("wake up") { world, me in
            world.memory[Cell.token(me)] = 0
            return .to("attempt")
        }
        program.atomic("be late") { world, me in
            world[me, .isLate] = 1
            return .to("attempt")
        }
        addHelping(to: &program)
    }

    private func addHelping(to program: inout Program) {
        program.step("help") { world, me in
            world[me, .ran] = 0
            return .next
        }
        program.step("help with one") { world, me in
            let next = world.memory[Cell.completed] + world[me, .ran]
            guard next < min(world[me, .position], world.limit(omission)) else { return .to("have helped") }
            world[me, .ran] += 1
            world.beginWriting()
            world.memory[Cell.run] += 1
            return .next
        }
        program.step("one is done") { world, _ in
            world.memory[Cell.writersInside] -= 1
            return .to("help with one")
        }
        program.atomic("have helped") { world, me in
            guard world.lock() else { return .blocked }
            world.memory[Cell.completed] += world[me, .ran]
            let isBehindRead =
                world[me, .wantsAlone] == 1 && omission != .precedenceAfterHelping
                && world.hasReadyRead(before: me)
            guard world[me, .position] <= world.memory[Cell.completed], !isBehindRead else {
                return .to("leave after helping")
            }
            if world[me, .wantsAlone] == 0 {
                world.memory[Cell.state] &= ~Flag.exclusive
                world.memory[Cell.readers] += 1
            }
            return .to("is in")
        }
        program.atomic("leave after helping") { world, me in
            world.publish(omission, leaving: true)
            world[me, .back] = Back.attempt.rawValue
            return .to("settle")
        }
    }

    /// The carrier: takes turns, runs writes, ends when there is nothing left to come.
    func addTurns(to program: inout Program) {
        program.atomic("turn") { world, me in
            if world.memory[Cell.turns] > 0 {
                world.memory[Cell.turns] -= 1
                return .next
            }
            let isAllDone = haveThreadsEnded(world) && !world.hasReads
            return isAllDone && world.memory[Cell.completed] == world.memory[Cell.submitted] ? .end : .blocked
        }
        program.atomic("take the turn") { world, me in
            guard world.lock() else { return .blocked }
            world.memory[Cell.turnComing] = 0
            world[me, .ran] = 0
            world[me, .purpose] = Purpose.turn
            return world.memory[Cell.completed] < world.limit(omission) ? .to("exclude") : .to("failed")
        }
        program.atomic("failed") { world, _ in
            world.unlock()
            return .to("turn")
        }
        program.step("run one") { world, me in
            guard world.memory[Cell.completed] + world[me, .ran] < world.limit(omission) else {
                return .to("have run")
            }
            world[me, .ran] += 1
            world.beginWriting()
            world.memory[Cell.run] += 1
            return .next
        }
        program.step("one has run") { world, _ in
            world.memory[Cell.writersInside] -= 1
            return .to("run one")
        }
        program.atomic("have run") { world, me in
            guard world.lock() else { return .blocked }
            world.memory[Cell.completed] += world[me, .ran]
            return .next
        }
        program.atomic("leave after the turn") { world, me in
            world.publish(omission, leaving: true)
            world[me, .back] = Back.turn.rawValue
            return .to("settle")
        }
    }

    /// Being inside alone, for who has the lock.
    func addExclusion(to program: inout Program) {
        program.atomic("exclude") { world, _ in
            let state = world.memory[Cell.state]
            if state & Flag.exclusive != 0 || world.memory[Cell.readers] > 0 { return .to("failed") }
            if state & Flag.biased != 0 { return .next }
            return state & Flag.claimed != 0 ? .to("scan") : .to("enter alone")
        }
        program.atomic("take the bias back") { world, _ in
            if omission != .bias { world.memory[Cell.state] &= ~Flag.biased }
            world.memory[Cell.state] |= Flag.claimed
            return omission == .barrier || isPortable ? .to("scan") : .next
        }
        program.barrier("barrier", processors: roles.count)
        program.step("scan") { _, _ in .next }
        for processor in roles.indices {
            program.step("scan \(processor)") { world, me in
                let isClaimed = omission != .scan && world.load(Cell.slot(processor), by: me) == 1
                return isClaimed ? .to("failed") : .next
            }
        }
        program.atomic("nobody claims") { world, _ in
            world.memory[Cell.state] &= ~Flag.claimed
            return .next
        }
        program.atomic("enter alone") { world, me in
            // Without the bias taken back, a version that forgot it would not look for it here either.
            guard world.isVacant || omission == .bias && world.isVacantButForTheBias else {
                return .to("failed")
            }
            world.memory[Cell.state] |= Flag.exclusive
            if world[me, .purpose] == Purpose.enter { return .to("is in") }
            world.unlock()
            return world[me, .purpose] == Purpose.help ? .to("help") : .to("run one")
        }
    }

    /// Letting in, waking or asking for whoever can go on; with the lock, which it gives back.
    func addSettling(to program: inout Program) {
        program.atomic("lock and settle") { world, _ in world.lock() ? .next : .blocked }
        program.atomic("settle") { world, me in
            world[me, .unparks] = 0
            world[me, .mustAsk] = 0
            world.publish(omission)
            return .next
        }
        program.atomic("is anybody alone inside?") { world, _ in
            world.memory[Cell.state] & Flag.exclusive != 0 ? .to("unlock") : .next
        }
        program.atomic("hand over") { world, me in
            guard let reader = world.nextToLetIn, world.countIn(nil) else { return .next }
            world.remove(reader)
            if let owner = World.owner(ofRead: reader) {
                world.memory[Cell.ready] |= 1 << UInt8(owner)
            } else {
                world.memory[Cell.isIn(reader)] = 1
                world[me, .unparks] |= 1 << UInt8(reader)
            }
            return .to("hand over")
        }
        program.atomic("decide") { world, me in
            let hasClaims =
                world.memory[Cell.state] & Flag.claimed != 0
                && roles.indices.contains { world.load(Cell.slot($0), by: me) == 1 }
            let isEmpty = world.memory[Cell.readers] == 0 && !hasClaims
            if world.memory[Cell.completed] < world.limit(omission) {
                if isEmpty, world.memory[Cell.turnComing] == 0, omission != .turn {
                    world.memory[Cell.turnComing] = 1
                    world[me, .mustAsk] = 1
                }
                let threads = world.line.filter { World.owner(ofRead: $0) == nil }
                if isEmpty, let helper = threads.first(where: { world.memory[Cell.helps($0)] == 1 }) {
                    world.wake(helper, by: me)
                }
            } else if let next = world.nextWaiter(isRead: !isEmpty) {
                world.wake(next, by: me)
            }
            return .next
        }
        program.atomic("publish once more") { world, _ in
            world.publish(omission)
            return .next
        }
        program.atomic("unlock") { world, _ in
            world.unlock()
            return .next
        }
        program.atomic("see to the rest") { world, me in
            for other in roles.indices where world[me, .unparks] & 1 << UInt8(other) != 0 {
                world.memory[Cell.token(other)] = 1
            }
            world.memory[Cell.turns] += world[me, .mustAsk]
            return .to(Back(rawValue: world[me, .back])!.step)
        }
    }
}
