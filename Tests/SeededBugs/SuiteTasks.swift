import ExecutionContexts
import ExecutionContextsTesting

/// Plain Swift concurrency with the faults of GoBench and of JaConTeBe.
extension SeededBug {
    static let suiteTasks: [SeededBug] = [
        walkedAcrossAwait, noLoopAfterWait, slowerMirror, flushedTwice, keptSlot, endedByTwo,
    ]

    private actor Listeners {
        private var names = ["screen", "log"]
        private(set) var notified: [String] = []

        func remove(_ name: String) { names.removeAll { $0 == name } }

        func notifyAll(isMended: Bool) async throws {
            let copy = names
            for index in copy.indices {
                try require(isMended || index < names.count, "there is no such listener")
                notified.append((isMended ? copy : names)[index])
                await request()
            }
        }
    }

    /// Listeners are notified by index, and one is removed while a notification is awaited.
    ///
    /// As `log4j-54325` of JaConTeBe.
    static let walkedAcrossAwait = plain("listener removed in the walk", depth: 1) { isMended in
        let listeners = Listeners()
        async let walk: Void = listeners.notifyAll(isMended: isMended)
        await listeners.remove("log")
        try await walk
    }

    private actor Items {
        private var items: [Int] = []
        private var waiters: [CheckedContinuation<Void, Never>] = []

        func put(_ item: Int) {
            items.append(item)
            if !waiters.isEmpty { waiters.removeFirst().resume() }
        }

        func take(isMended: Bool) async throws -> Int {
            var mayWait = true
            while items.isEmpty && mayWait {
                await withCheckedContinuation { waiters.append($0) }
                mayWait = isMended
            }
            try require(!items.isEmpty, "there is no item")
            return items.removeFirst()
        }
    }

    /// A task that is resumed does not check again, and another task has taken the item.
    ///
    /// As `sync02` of SCTBench, with continuations.
    static let noLoopAfterWait = plain("resumed for an item that is gone", depth: 1) { isMended in
        let items = Items()
        async let alice = items.take(isMended: isMended)
        async let bob = items.take(isMended: isMended)
        await items.put(1)
        await request()
        await items.put(2)
        _ = try await (alice, bob)
    }

    /// The first of two mirrors is received, and the slower one waits forever to send.
    ///
    /// As `moby_33781` of GoBench.
    static let slowerMirror = plain("slower mirror that is not received", .lostWakeUp, depth: 1) {
        isMended in
        let (answers, log) = (Channel<Int>(capacity: isMended ? 2 : 0), Log())
        for mirror in 1...2 {
            Task(name: "mirror \(mirror)") {
                if mirror > 1 { await later() }
                if await log.entries.isEmpty { _ = try await answers.send(mirror).get() }
            }
        }
        _ = try await answers.receive().get()
        await log.add("found")
    }

    private actor Output {
        private let lines = Channel<String>(capacity: 1)
        private var isClosed = false

        func close(isMended: Bool) async throws {
            if isClosed { return }
            if isMended { isClosed = true }
            await request()
            isClosed = true
            try lines.close()
        }
    }

    /// Two tasks close an output, which flushes before it marks itself closed.
    ///
    /// As the double closes of GoBench and of JaConTeBe.
    static let flushedTwice = plain("closed again during its flush", depth: 1) { isMended in
        let output = Output()
        async let signal: Void = output.close(isMended: isMended)
        async let end: Void = later { try await output.close(isMended: isMended) }
        _ = try await (signal, end)
    }

    /// A buffered channel limits the requests, and one that fails keeps its slot.
    ///
    /// As `moby_17176` of GoBench, which misses an unlock on one path.
    static let keptSlot = plain("slot kept on the path of an error", .lostWakeUp, depth: 3) {
        isMended in
        let (slots, log) = (Channel<Int>(capacity: 1), Log())
        @Sendable func send() async throws {
            _ = try await slots.send(1).get()
            if await log.entries.contains("offline") {
                if isMended { slots.receive() }
                return
            }
            await log.add("sent")
            slots.receive()
        }
        async let feed: Void = send()
        async let profile: Void = later(send)
        await later()
        await log.add("offline")
        _ = try await (feed, profile)
    }

    private actor Countdown {
        private(set) var left = 2

        func leave() -> Int {
            left -= 1
            return left
        }
    }

    /// Two tasks see that they are the last of a group, and both close its channel.
    ///
    /// As the channel misuse of GoBench.
    static let endedByTwo = plain("channel closed by two last tasks", depth: 2) { isMended in
        let (countdown, results) = (Countdown(), Channel<Int>(capacity: 2))
        @Sendable func end(_ name: String) async throws {
            if isMended {
                if await countdown.leave() == 0 { try results.close() }
            } else {
                _ = await countdown.leave()
                let message = "ended by \(name)"
                if await countdown.left == 0 && !message.isEmpty { try results.close() }
            }
        }
        async let alice: Void = end("alice")
        async let bob: Void = later { try await end("bob") }
        _ = try await (alice, bob)
    }
}
