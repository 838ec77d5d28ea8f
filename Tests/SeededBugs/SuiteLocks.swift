import ExecutionContexts
import ExecutionContextsTesting

/// Programs in the style of SCTBench whose locks are forgotten, left too early, or kept.
extension SeededBug {
    static let suiteLocks: [SeededBug] = [
        bookedTooEarly, stoppedDriver, roomForKinds, keptPermit, busyBlock, tokenRing,
        appendedBuffer,
        releasedQueue,
    ]

    /// A flag reports a deposit as booked before it is in the balance.
    ///
    /// As `account` of SCTBench.
    static let bookedTooEarly = SeededBug("booked before it is paid in", .threw, depth: 1) {
        sim, isMended in
        let section = CriticalSection(name: "account")
        let (balance, isBooked) = (Tracked(100, name: "balance"), Tracked(false, name: "booked"))
        sim.spawn("deposit") {
            if !isMended { section.execute { isBooked.value = true } }
            section.execute { balance.value += 50 }
            if isMended { section.execute { isBooked.value = true } }
        }
        sim.spawn("auditor") {
            try section.execute {
                try require(!isBooked.value || balance.value == 150, "a deposit is missing")
            }
        }
    }

    /// A request checks that the driver is not stopping, and is counted in a second step.
    ///
    /// As `bluetooth_driver` of SCTBench.
    static let stoppedDriver = SeededBug("request to a stopped driver", .threw, depth: 1) {
        sim, isMended in
        let section = CriticalSection(name: "driver")
        let (isStopping, isStopped) = (
            Tracked(false, name: "stopping"), Tracked(false, name: "stopped")
        )
        // The driver counts as one until it is stopped.
        let pending = Tracked(1, name: "pending")
        @Sendable func leave() {
            section.execute {
                pending.value -= 1
                if pending.value == 0 { isStopped.value = true }
            }
        }
        sim.spawn("request") {
            if !isMended && isStopping.value { return }
            let isIn = section.execute {
                if isMended && isStopping.value { return false }
                pending.value += 1
                return true
            }
            guard isIn else { return }
            try require(!isStopped.value, "a stopped driver gets a request")
            leave()
        }
        sim.spawn("stop") {
            section.execute { isStopping.value = true }
            leave()
        }
    }

    /// Guests of two kinds share a lock for their counts. The first of a kind waits for the room
    /// while it holds that lock.
    ///
    /// As `carter01` of SCTBench.
    static let roomForKinds = SeededBug("waits for a room with the lock", .lostWakeUp, depth: 1) {
        sim, isMended in
        let (shared, room) = (CriticalSection(name: "counts"), Permits(1, name: "room"))
        for kind in ["red", "blue"] {
            let lock = isMended ? CriticalSection(name: kind) : shared
            let guests = Tracked(0, name: kind)
            sim.spawn(kind) {
                try lock.execute {
                    guests.value += 1
                    if guests.value == 1 { try room.take() }
                }
                lock.execute {
                    guests.value -= 1
                    if guests.value == 0 { room.giveBack() }
                }
            }
        }
    }

    /// A writer that finds the file closed leaves without giving its permit back.
    ///
    /// As `phase01` of SCTBench.
    static let keptPermit = SeededBug("left with the permit", .lostWakeUp, depth: 1) {
        sim, isMended in
        let (permits, isClosed) = (Permits(1, name: "file"), Tracked(false, name: "closed"))
        let lines = Tracked(0, name: "lines")
        sim.spawn("writer") {
            try permits.take()
            if isClosed.value {
                if isMended { permits.giveBack() }
                return
            }
            lines.value += 1
            permits.giveBack()
        }
        sim.spawn("closer") {
            isClosed.value = true
            try permits.take()
            permits.giveBack()
        }
    }

    /// A creator of a file looks for a free block without the lock of the block.
    ///
    /// As `fsbench` of SCTBench.
    static let busyBlock = SeededBug("block of two files", .invariant, depth: 1) { sim, isMended in
        let locks = (0..<3).map { CriticalSection(name: "block \($0)") }
        let files = (0..<3).map { Tracked<[String]>([], name: "files in block \($0)") }
        for name in ["a", "b", "c"] {
            sim.spawn(name) {
                for block in files.indices {
                    let take = { @Sendable () -> Bool in
                        guard isMended || files[block].value.isEmpty else { return false }
                        return locks[block].execute {
                            if isMended && !files[block].value.isEmpty { return false }
                            files[block].value += [name]
                            return true
                        }
                    }
                    if take() { return }
                }
            }
        }
        sim.invariant("a block is of one file") { files.allSatisfy { $0.value.count <= 1 } }
    }

    /// Each of four threads adds to the value of the previous one without waiting for it.
    ///
    /// As `token_ring` of SCTBench.
    static let tokenRing = SeededBug("ring without a token", .invariant, depth: 1) {
        sim, isMended in
        let section = CriticalSection(name: "ring")
        let values = (0...4).map { Tracked($0 == 0 ? 1 : 0, name: "value \($0)") }
        let tokens = (0...4).map { _ in Promise<Void>() }
        tokens[0].succeed(())
        for index in 1...4 {
            sim.spawn("thread \(index)") {
                if isMended { try tokens[index - 1].async.wait() }
                section.execute { values[index].value = values[index - 1].value + 1 }
                tokens[index].succeed(())
            }
        }
        sim.finally("the ring adds up") { values.map(\.value) == [1, 2, 3, 4, 5] }
    }

    /// The length of the other buffer is read in one step, and its characters in another.
    ///
    /// As `stringbuffer-jdk1.4` of SCTBench.
    static let appendedBuffer = SeededBug("appended while it shrinks", .threw, depth: 1) {
        sim, isMended in
        let other = LockedResource(Array("abc"), lockedBy: .coordinator(named: "other"))
        let text = Tracked("", name: "text")
        sim.spawn("append") {
            func characters(_ count: Int, in buffer: [Character]) throws -> String {
                try require(count <= buffer.count, "there are fewer characters than expected")
                return String(buffer.prefix(count))
            }
            if isMended {
                text.value = try other.read { try characters($0.count, in: $0) }
            } else {
                let count = other.read { $0.count }
                text.value = try other.read { try characters(count, in: $0) }
            }
        }
        sim.spawn("erase") { other.mutate { $0.removeAll() } }
    }

    /// The main thread releases a queue when it is empty, and a consumer still uses it.
    ///
    /// As `pbzip2-0.9.4` of SCTBench.
    static let releasedQueue = SeededBug("queue released while in use", .threw, depth: 1) {
        sim, isMended in
        let section = CriticalSection(name: "queue")
        let (blocks, written) = (Tracked([1, 2], name: "blocks"), Tracked(0, name: "written"))
        let isReleased = Tracked(false, name: "released")
        sim.spawn("consumer") {
            for _ in 1...2 {
                section.execute { blocks.value = Array(blocks.value.dropFirst()) }
                try require(!isReleased.value, "a released queue is used")
                section.execute { written.value += 1 }
            }
        }
        sim.spawn("main") {
            while section.execute({ isMended ? written.value < 2 : !blocks.value.isEmpty }) {
                sim.yield()
            }
            isReleased.value = true
        }
    }
}
