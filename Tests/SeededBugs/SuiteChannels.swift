import ExecutionContexts
import ExecutionContextsTesting

/// Channels that are closed too early, or whose receiver has left, in the style of GoBench.
extension SeededBug {
    static let suiteChannels: [SeededBug] = [
        sentOnClosed, leakedSender, closedTwice, missedQuit, crossedLoops, secondError,
        filledBeforeItsReader,
    ]

    /// A handler checks that the channel is open, and sends when it has been closed.
    ///
    /// As `grpc_1687` of GoBench.
    static let sentOnClosed = SeededBug("send on a closed channel", .threw, depth: 1) {
        sim, isMended in
        let (section, isClosed) = (CriticalSection(name: "stream"), Tracked(false, name: "closed"))
        let writes = Channel<Int>(capacity: 1)
        sim.spawn("handler") {
            let write = { @Sendable in if !isClosed.value { _ = try writes.send(7).wait() } }
            if isMended { try section.execute(write) } else { try write() }
        }
        sim.spawn("end of the stream") {
            try section.execute {
                isClosed.value = true
                try writes.close()
            }
        }
    }

    /// A caller stops waiting at its time limit, and the handler waits forever to send the answer.
    ///
    /// As `kubernetes_5316` of GoBench.
    static let leakedSender = SeededBug(
        "sender whose receiver has left", .lostWakeUp, depth: 2, time: .racing
    ) { sim, isMended in
        let answers = Channel<Int>(capacity: isMended ? 1 : 0)
        sim.spawn("caller") {
            let selection = Channel<Int>.Selection()
            answers.receive(in: selection)
            do {
                _ = try selection.async.wait(timeout: .seconds(1))
            } catch {
                selection.fail(error)
            }
        }
        sim.spawn("handler") { _ = try answers.send(7).wait() }
    }

    /// Two threads find the channel open, and both close it.
    ///
    /// As the channel misuse of Docker in the study behind GoBench.
    static let closedTwice = SeededBug("channel closed twice", .threw, depth: 1) { sim, isMended in
        let (section, isClosed) = (CriticalSection(name: "stop"), Tracked(false, name: "closed"))
        let quit = Channel<Int>()
        for name in ["signal", "error"] {
            sim.spawn(name) {
                let stop = { @Sendable in
                    if isClosed.value { return }
                    isClosed.value = true
                    try quit.close()
                }
                if isMended { try section.execute(stop) } else { try stop() }
            }
        }
    }

    /// A producer selects the quit channel while it waits for jobs, and not while it sends results.
    ///
    /// As `cockroach_18101` of GoBench.
    static let missedQuit = SeededBug("quit missed while it sends", .lostWakeUp, depth: 1) {
        sim, isMended in
        let lock = CriticalSection(name: "channels")
        let (jobs, results, quit) = (
            Channel<Int>(capacity: 2), Channel<Int>(lock: lock), Channel<Int>(lock: lock)
        )
        sim.spawn("worker") {
            for _ in 1...2 {
                guard let job = try jobs.receive().wait().element else { return }
                let selection = Channel<Int>.Selection()
                results.send(job, in: selection)
                if isMended { quit.receive(in: selection) }
                if case .closed = try selection.async.wait() { return }
            }
        }
        sim.spawn("client") {
            _ = try jobs.send(1).wait()
            _ = try results.receive().wait()
            try quit.close()
            try jobs.close()
        }
        sim.spawn("other client") {
            sim.yield()
            // The channel may be closed by now.
            _ = try? jobs.send(2).wait()
        }
    }

    /// Two loops forward their clients' messages, and each sends to the other while neither
    /// receives.
    ///
    /// As `cockroach_2448` of GoBench.
    static let crossedLoops = SeededBug("two loops send to each other", .lostWakeUp, depth: 1) {
        sim, isMended in
        let inboxes = (0..<2).map { _ in Channel<String>(capacity: isMended ? 1 : 0) }
        for index in 0..<2 {
            sim.spawn("client \(index)") { _ = try inboxes[index].send("request").wait() }
            sim.spawn("loop \(index)") {
                for _ in 1...2 {
                    let message = try inboxes[index].receive().wait().element
                    if message == "request" { _ = try inboxes[1 - index].send("event").wait() }
                }
            }
        }
    }

    /// The caller receives the first error only, and the worker with the second waits forever.
    ///
    /// As `kubernetes_25331` of GoBench.
    static let secondError = SeededBug("second error that is not received", .lostWakeUp, depth: 1) {
        sim, isMended in
        let errors = Channel<String>(capacity: isMended ? 2 : 0)
        let isOver = Tracked(false, name: "over")
        @Sendable func fail(_ name: String) throws {
            if !isOver.value { _ = try errors.send(name).wait() }
        }
        sim.spawn("reader") { try fail("reader") }
        sim.spawn("caller") {
            _ = try errors.receive().wait()
            isOver.value = true
        }
        sim.spawn("writer") { try fail("writer") }
    }

    /// A channel with room for one message is filled by another thread before its reader starts.
    ///
    /// As `cockroach_24808` of GoBench.
    static let filledBeforeItsReader = SeededBug(
        "filled before its reader starts", .lostWakeUp, depth: 1
    ) { sim, isMended in
        let suggestions = Channel<Int>(capacity: 1)
        sim.spawn("start") {
            let startReader = { @Sendable in
                sim.spawn("reader") { for _ in 1...2 { _ = try suggestions.receive().wait() } }
            }
            if isMended { startReader() }
            _ = try suggestions.send(1).wait()
            if !isMended { startReader() }
        }
        sim.spawn("suggestion") { _ = try suggestions.send(2).wait() }
    }
}
