extension CoordinatorModel {
    /// The pool: runs the admitted enqueued reads.
    func addPool(to program: inout Program) {
        program.atomic("pool") { world, me in
            let ready = world.memory[Address.ready]
            guard let submitter = roles.indices.first(where: { ready & 1 << UInt8($0) != 0 })
            else { return haveThreadsEnded(world) && !world.hasReads ? .end : .blocked }
            guard world.lock() else { return .blocked }
            world.memory[Address.ready] &= ~(1 << UInt8(submitter))
            world[me, .mine] = UInt8(submitter)
            world.unlock()
            return .next
        }
        program.step("enqueued read") { world, me in
            world.memory[Address.readersInside] += 1
            world.check(
                world.memory[Address.writersInside] == 0, "a reader enters while a writer is inside"
            )
            let position = world.memory[Address.position(ofReadBy: Int(world[me, .mine]))]
            world.check(
                world.memory[Address.run] >= position, "an enqueued read misses a write before it")
            world.check(
                world.memory[Address.run] <= position, "an enqueued read sees a write after it")
            return .next
        }
        program.step("enqueued read ends") { world, me in
            world.check(
                world.memory[Address.writersInside] == 0,
                "a writer has entered while a reader is inside")
            world.memory[Address.readersInside] -= 1
            world.memory[Address.isEnqueued(Int(world[me, .mine]))] = 0
            return .next
        }
        program.atomic("uncount the enqueued read") { world, me in
            world.memory[Address.readers] -= 1
            guard world.memory[Address.readers] == 0, world.mustAdmitNext,
                omission != .admittingAfterCountedRead
            else {
                return .to("pool")
            }
            return world.admitNext(me, then: .pool)
        }
    }

    func haveThreadsEnded(_ world: World) -> Bool {
        roles.indices.allSatisfy {
            guard case .thread = roles[$0] else { return true }
            return world.processors[$0].hasEnded
        }
    }
}
