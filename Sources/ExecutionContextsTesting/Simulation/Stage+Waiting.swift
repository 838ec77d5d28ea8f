// What the primitives do, as a stage sees it.
extension Stage {
    func willTouch(_ word: Word, by lane: Lane) {
        lane.refused = nil
        point(lane)
        if !lane.held.isEmpty, let index = lane.held.lastIndex(of: word) {
            lane.held.remove(at: index)
            chronicle?.add(lane, .leaves(names.name(of: word) ?? "a lock"))
        } else if let chronicle, let name = names.name(of: word) {
            chronicle.add(lane, .touches(name))
        }
    }

    func willStep(_ lane: Lane) {
        lane.refused = nil
        point(lane)
    }

    func willEnter(_ owner: Word, by lane: Lane) {
        if !lane.held.isEmpty, phase == .playing { noteOrder(owner, lane) }
        point(lane)
        // Nobody comes between this and what the lane is about to do.
        if owner.holder == 0 {
            lane.held.append(owner)
            lane.refused = nil
        } else {
            lane.refused = owner
        }
        guard let chronicle else { return }
        let name = names.name(of: owner) ?? "a lock"
        chronicle.add(lane, lane.refused == nil ? .enters(name) : .isRefused(name))
    }

    func park(_ lane: Lane, until deadline: Int64) -> Bool {
        if phase == .asking { refuseToWait(lane) }
        step(lane)
        if !lane.hasToken {
            lane.wasWoken = false
            lane.deadline = deadline
            lane.wait = lane.awaited ?? lane.refused.map { .lock($0) } ?? .nothing
            chronicle?.add(lane, .sleeps)
            rest(lane, .asleep)
            if deadline != .max { timed |= 1 << UInt64(lane.id) }
            pass(from: lane, choose(lane, stays: false))
            // Handed over while it slept.
            if let refused = lane.refused, refused.holder == lane.thread.identifier {
                lane.held.append(refused)
            }
            lane.wait = .nothing
        }
        lane.awaited = nil
        let wasWoken = lane.hasToken || lane.wasWoken
        lane.hasToken = false
        return wasWoken
    }

    /// Who is to be woken, after a point; nil if it is nobody of this simulation.
    func willUnpark(_ thread: UInt32, by lane: Lane) -> Lane? {
        point(lane)
        guard let sleeper = lanes.first(where: { $0.thread.identifier == thread }) else {
            fail(
                .foreign,
                "'\(lane.name)' wakes a thread that the simulation did not start. Start threads with spawn, and "
                    + "let nobody outside wait for what happens inside.")
            return nil
        }
        return sleeper.isDone ? nil : sleeper
    }

    func unpark(_ sleeper: Lane) {
        if sleeper.state == .asleep {
            sleeper.wasWoken = true
            wake(sleeper)
        } else {
            sleeper.hasToken = true
        }
    }

    /// Keeps the lane until `isOver`, of which somebody tells it by `wake`.
    func block(_ lane: Lane, on line: JobLine, until isOver: () -> Bool) {
        if phase == .asking { refuseToWait(lane) }
        while !isOver() {
            lane.operations += 1
            lane.wait = .context(line)
            chronicle?.add(lane, .waits(line.name))
            rest(lane, .waiting)
            pass(from: lane, choose(lane, stays: false))
        }
        lane.wait = .nothing
    }
}
