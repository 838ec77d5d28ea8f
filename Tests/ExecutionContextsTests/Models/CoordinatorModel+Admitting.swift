extension CoordinatorModel {
    /// Admits or wakes the waiters that can enter, and requests a drain. Unlocks in the end.
    func addAdmitting(to program: inout Program) {
        program.atomic("lock and admit next") { world, _ in world.lock() ? .next : .blocked }
        program.atomic("admit next") { world, me in
            world[me, .unparks] = 0
            world[me, .mustRequestDrain] = 0
            world.publish(omission)
            return .next
        }
        program.atomic("is a writer inside?") { world, _ in
            world.memory[Address.state] & Flag.exclusive != 0 ? .to("unlock") : .next
        }
        program.atomic("admit a reader") { world, me in
            guard let reader = world.nextToAdmit, world.countAdmitted(nil) else { return .next }
            world.remove(reader)
            if let submitter = World.submitter(ofRead: reader) {
                world.memory[Address.ready] |= 1 << UInt8(submitter)
            } else {
                world.memory[Address.isAdmitted(reader)] = 1
                world[me, .unparks] |= 1 << UInt8(reader)
            }
            return .to("admit a reader")
        }
        program.atomic("wake or request a drain") { world, me in
            let hasSlotReaders =
                world.memory[Address.state] & Flag.revoking != 0
                && roles.indices.contains { world.load(Address.slot($0), by: me) == 1 }
            let isEmpty = world.memory[Address.readers] == 0 && !hasSlotReaders
            if world.memory[Address.completed] < world.limit(omission) {
                if isEmpty, world.memory[Address.isDrainRequested] == 0, omission != .drainRequest {
                    world.memory[Address.isDrainRequested] = 1
                    world[me, .mustRequestDrain] = 1
                }
                let threads = world.waitQueue.filter { World.submitter(ofRead: $0) == nil }
                if isEmpty,
                    let helper = threads.first(where: { world.memory[Address.helps($0)] == 1 })
                {
                    world.wake(helper, by: me)
                }
            } else if let next = world.firstReady(besideReaders: !isEmpty) {
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
        program.atomic("perform the effects") { world, me in
            for other in roles.indices where world[me, .unparks] & 1 << UInt8(other) != 0 {
                world.memory[Address.parkToken(other)] = 1
            }
            world.memory[Address.drains] += world[me, .mustRequestDrain]
            return .to(Resumption(rawValue: world[me, .resumption])!.step)
        }
    }
}
