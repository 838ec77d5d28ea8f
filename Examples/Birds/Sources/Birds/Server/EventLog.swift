import ExecutionContexts

/// Keeps the events of a server. Callers can wait for one of them.
final class EventLog: Sendable {
    private struct State: Sendable {
        var events: [BirdServer.Event] = []
        var waiters: [Waiter] = []

        func isDue(_ waiter: Waiter) -> Bool { events.count { $0 == waiter.event } >= waiter.times }
    }

    private struct Waiter: Sendable {
        let event: BirdServer.Event
        let times: Int
        let promise = Promise<Void>()
    }

    private let state = LockedResource(State(), lockedBy: .section)

    /// What has happened so far.
    var events: [BirdServer.Event] { state.read { $0.events } }

    func count(of event: BirdServer.Event) -> Int { events.count { $0 == event } }

    func add(_ event: BirdServer.Event) {
        let due = state.mutate { state in
            state.events.append(event)
            let due = state.waiters.filter(state.isDue)
            state.waiters = state.waiters.filter { !state.isDue($0) }
            return due
        }
        for waiter in due { waiter.promise.succeed(()) }
    }

    /// Completes when `event` has happened `times` times, at once if it has already.
    func wait(for event: BirdServer.Event, times: Int = 1) -> Async<Void> {
        let waiter = Waiter(event: event, times: times)
        let isDue = state.mutate { state in
            if state.isDue(waiter) { return true }
            state.waiters.append(waiter)
            return false
        }
        if isDue { waiter.promise.succeed(()) }
        return waiter.promise.async
    }
}
