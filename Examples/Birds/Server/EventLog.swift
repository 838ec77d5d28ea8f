import ExecutionContexts

/// Keeps what happens at a server, for who wants to wait for something of it.
final class EventLog: Sendable {
    private struct State: Sendable {
        var events: [BirdServer.Event] = []
        var waiting: [(event: BirdServer.Event, caller: CheckedContinuation<Void, Never>)] = []
    }

    private let state = LockedResource(State(), lockedBy: .section)

    /// What has happened so far.
    var events: [BirdServer.Event] { state.read { $0.events } }

    func add(_ event: BirdServer.Event) {
        let callers = state.write { state in
            state.events.append(event)
            let callers = state.waiting.filter { $0.event == event }.map(\.caller)
            state.waiting.removeAll { $0.event == event }
            return callers
        }
        for caller in callers { caller.resume() }
    }

    /// Returns when `event` has happened, perhaps long ago.
    func wait(for event: BirdServer.Event) async {
        await withCheckedContinuation { caller in
            let hasHappened = state.write { state in
                if state.events.contains(event) { return true }
                state.waiting.append((event, caller))
                return false
            }
            if hasHappened { caller.resume() }
        }
    }
}
