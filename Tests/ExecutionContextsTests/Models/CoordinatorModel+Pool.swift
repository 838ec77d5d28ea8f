extension CoordinatorModel {
    /// The pool: runs the enqueued reads that have been counted in.
    func addPool(to program: inout Program) {
        program.atomic("pool") { world, me in
            guard let owner = roles.indices.first(where: { world.memory[Cell.ready] & 1 << UInt8($0) != 0 })
            else { return haveThreadsEnded(world) && !world.hasReads ? .end : .blocked }
            guard world.lock() else { return .blocked }
            world.memory[Cell.ready] &= ~(1 << UInt8(owner))
            world[me, .mine] = UInt8(owner)
            world.unlock()
            return .next
        }
        program.step("enqueued read") { world, me in
            world.memory[Cell.readersInside] += 1
            world.check(world.memory[Cell.writersInside] == 0, "a reader enters while a writer is inside")
            let position = world.memory[Cell.position(ofReadBy: Int(world[me, .mine]))]
            world.check(world.memory[Cell.run] >= position, "an enqueued read misses a write before it")
            world.check(world.memory[Cell.run] <= position, "an enqueued read sees a write after it")
            return .next
        }
        program.step("enqueued read ends") { world, me in
            world.check(
                world.memory[Cell.writersInside] == 0, "a writer has entered while a reader is inside")
            world.memory[Cell.readersInside] -= 1
            world.memory[Cell.isEnqueued(Int(world[me, .mine]))] = 0
            return .next
        }
        program.atomic("uncount the enqueued read") { world, me in
            world.memory[Cell.readers] -= 1
            guard world.memory[Cell.readers] == 0, world.isAwaited, omission != .tellingAfterCount else {
                return .to("pool")
            }
            return world.settle(me, then: .pool)
        }
    }

    func haveThreadsEnded(_ world: World) -> Bool {
        roles.indices.allSatisfy {
            guard case .thread = roles[$0] else { return true }
            return world.processors[$0].hasEnded
        }
    }
}
