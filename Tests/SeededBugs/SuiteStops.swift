import ExecutionContexts
import ExecutionContextsTesting

/// Loops that are stopped while another thread counts on them, in the style of GoBench.
extension SeededBug {
    static let suiteStops: [SeededBug] = [
        lockOverSend, forgottenQuit, askedAfterStop, stoppedUnderLock, twoChecks, droppedSignal,
    ]

    /// A status is sent under the lock that its receiver takes between two of them.
    ///
    /// As `kubernetes_10182` of GoBench.
    static let lockOverSend = SeededBug("lock held over a send", .lostWakeUp, depth: 1) {
        sim, isMended in
        let (section, statuses) = (CriticalSection(name: "statuses"), Channel<Int>())
        let synced = Tracked(0, name: "synced")
        sim.spawn("manager") {
            for status in 1...2 {
                sim.yield()
                let send = { @Sendable in _ = try statuses.send(status).wait() }
                if isMended { try send() } else { try section.execute(send) }
            }
        }
        sim.spawn("sync") {
            for _ in 1...2 {
                _ = try statuses.receive().wait()
                section.execute { synced.value += 1 }
            }
        }
    }

    /// A source closes its quit channel and then forgets it, and the loop waits for none.
    ///
    /// As `istio_8967` of GoBench.
    static let forgottenQuit = SeededBug("quit channel set to nil", .lostWakeUp, depth: 1) {
        sim, isMended in
        // A receive from the nil channel of Go waits forever.
        let never = Channel<Int>()
        let quit = Tracked<Channel<Int>?>(Channel(), name: "quit")
        sim.spawn("loop") { _ = try (quit.value ?? never).receive().wait() }
        sim.spawn("stop") {
            try quit.value?.close()
            if !isMended { quit.value = nil }
        }
    }

    /// A caller requests the status of a loop that has been stopped.
    ///
    /// As `etcd_6857` of GoBench.
    static let askedAfterStop = SeededBug("status of a stopped loop", .lostWakeUp, depth: 1) {
        sim, isMended in
        let lock = CriticalSection(name: "channels")
        let (requests, quit) = (Channel<Int>(lock: lock), Channel<Int>(lock: lock))
        sim.spawn("loop") {
            while true {
                let selection = Channel<Int>.Selection()
                requests.receive(in: selection)
                quit.receive(in: selection)
                if case .closed = try selection.async.wait() { return }
            }
        }
        sim.spawn("caller") {
            let selection = Channel<Int>.Selection()
            requests.send(1, in: selection)
            if isMended { quit.receive(in: selection) }
            _ = try selection.async.wait()
        }
        sim.spawn("stop") { try quit.close() }
    }

    /// A thread waits for the end of a loop under the lock that the loop takes for an update.
    ///
    /// As `etcd_6873` of GoBench.
    static let stoppedUnderLock = SeededBug("end awaited with the lock", .lostWakeUp, depth: 1) {
        sim, isMended in
        let section = CriticalSection(name: "watches")
        let (updates, done) = (Channel<Int>(capacity: 1), Channel<Int>())
        let merged = Tracked(0, name: "merged")
        sim.spawn("client") { _ = try? updates.send(1).wait() }
        sim.spawn("loop") {
            while try updates.receive().wait().element != nil {
                section.execute { merged.value += 1 }
            }
            try done.close()
        }
        sim.spawn("stop") {
            try section.execute {
                try updates.close()
                if !isMended { _ = try done.receive().wait() }
            }
            if isMended { _ = try done.receive().wait() }
        }
    }

    /// A request is counted at its beginning and at its end, if it is not cancelled at either.
    ///
    /// As the contexts that GoBench's programs check twice.
    static let twoChecks = SeededBug("cancellation checked twice", .invariant, depth: 1) {
        sim, isMended in
        let (section, token) = (CriticalSection(name: "count"), InvalidationToken())
        let (running, served) = (Tracked(0, name: "running"), Tracked(0, name: "served"))
        sim.spawn("request") {
            let isCounted = token.isValid
            if isCounted { section.execute { running.value += 1 } }
            served.value += 1
            if isMended ? isCounted : token.isValid { section.execute { running.value -= 1 } }
        }
        sim.spawn("client") { token.invalidate() }
        sim.finally("no request runs") { running.value == 0 }
    }

    /// A signal is dropped if the receiver is not ready, as when it handles an older one.
    ///
    /// As the `select` with a default of GoBench's programs.
    static let droppedSignal = SeededBug("signal dropped while busy", .invariant, depth: 1) {
        sim, isMended in
        let (signals, stored) = (
            Channel<Int>(capacity: isMended ? 1 : 0), Tracked(0, name: "stored")
        )
        let seen = Tracked(0, name: "seen")
        sim.spawn("reloader") {
            while try signals.receive().wait().element != nil { seen.value = stored.value }
        }
        sim.spawn("watcher") {
            for version in 1...2 {
                stored.value = version
                // With the default case: a message that cannot be sent at once is dropped.
                let selection = Channel<Int>.Selection()
                signals.send(version, in: selection)
                selection.succeed(.closed)
            }
            try signals.close()
        }
        sim.finally("the last version is loaded") { seen.value == stored.value }
    }
}
