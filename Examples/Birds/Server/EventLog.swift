import ExecutionContexts

/// Keeps what happens at a server, for who wants to wait for something of it.
final class EventLog: Sendable {
    private struct State: Sendable {
        var events: [BirdServer.Event] = []
        var waiting: [Waiting] = []

        func isDue(_ waiting: Waiting) -> Bool { events.count { $0 == waiting.event } >= waiting.times }
    }

    private struct Waiting: Sendable {
        let event: BirdServer.Event
        let times: Int
        let promise = Promise<Void>()
    }

    private let state = LockedResource(State(), lockedBy: .section)

    /// What has happened so far.
    var events: [BirdServer.Event] { state.read { $0.events } }

    func count(of event: BirdServer.Event) -> Int { events.count { $0 == event } }

    func add(_ event: BirdServer.Event) {
        let due = state.write { state in
            state.events.append(event)
            let due = state.waiting.filter(state.isDue)
            state.waiting = state.waiting.filter { !state.isDue($0) }
            return due
        }
        for waiting in due { waiting.promise.succeed(()) }
    }

    /// Ends when `event` has happened so many times, perhaps long ago.
    func wait(for event: BirdServer.Event, times: Int = 1) -> Async<Void> {
        let waiting = Waiting(event: event, times: times)
        let isDue = state.write { state in
            if state.isDue(waiting) { return true }
            state.waiting.append(waiting)
            return false
        }
        if isDue { waiting.promise.succeed(()) }
        return waiting.promise.async
    }
}
