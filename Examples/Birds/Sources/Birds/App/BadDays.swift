import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// Shows requests that fail, that are retried, and that take long.
func showBadDays(_ transport: some Transport, _ clock: ManualContext, _ log: EventLog) async throws
{
    let persistent = PersistentTransport(
        base: transport, context: GlobalContext(), backoff: .exponential(from: .milliseconds(10)))
    let requests: [(path: String, event: BirdServer.Event, times: Int)] = [
        ("/nowhere", .answered(path: "/nowhere", status: 404), 1),
        ("/broken", .brokeOff(path: "/broken"), 3),
        ("/busy", .answered(path: "/busy", status: 503), 3),
    ]
    for (path, event, times) in requests {
        say("GET \(path)", try await outcome(of: path, persistent).get())
        try await log.wait(for: event, times: times).get()
        say("   requests that the server received", log.count(of: event))
    }

    // The slow answer takes an hour, and the time limit is ten seconds, both in virtual time.
    let slow = outcome(of: "/slow", transport)
    try await log.wait(for: .parked(path: "/slow")).get()
    let limited = outcome(
        of: "/slow", PersistentTransport(base: transport, context: clock, attempts: 1))
    clock.runReady()
    try await log.wait(for: .parked(path: "/slow"), times: 2).get()
    say(
        "GET /birds.json, with two of /slow in flight",
        try await outcome(of: "/birds.json", transport).get())
    clock.advance(by: .seconds(10))
    say("GET /slow, with a limit, ten seconds later", try await limited.get())
    try await log.wait(for: .left(path: "/slow")).get()
    clock.advance(by: .seconds(3_590))
    say("GET /slow, without a limit, an hour later", try await slow.get())
}

/// Shows that a request ends when its last subscriber has cancelled (law 26).
func showCancelling(_ transport: some Transport, _ log: EventLog) async throws {
    let slow = transport.get("/slow")
    let (one, other) = (slow.map(\.count), slow.map(\.count))
    try await log.wait(for: .parked(path: "/slow"), times: 3).get()
    one.cancel()
    say("one of two subscribers cancels: the request", slow.isCompleted ? "has ended" : "continues")
    other.cancel()
    try await log.wait(for: .left(path: "/slow"), times: 2).get()
    say(
        "both cancel: the request", slow.isCompleted ? "has ended, also at the server" : "continues"
    )
}

/// The outcome of a request, as text.
func outcome(of path: String, _ transport: some Transport) -> Async<String> {
    transport.get(path).map { "\($0.count) bytes" }.recover { error in
        (error as? URLError)?.localizedDescription ?? "\(error)"
    }
}
