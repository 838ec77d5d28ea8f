import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// Shows what becomes of requests when the network, or the user, is not at its best.
func showBadDays(_ transport: some Transport, _ clock: ManualContext, _ log: EventLog) async throws {
    let persistent = PersistentTransport(
        base: transport, context: GlobalContext(), backoff: .exponential(from: .milliseconds(10)))
    let asked: [(path: String, event: BirdServer.Event, times: Int)] = [
        ("/nowhere", .answered(path: "/nowhere", status: 404), 1), ("/broken", .brokeOff(path: "/broken"), 3),
        ("/busy", .answered(path: "/busy", status: 503), 3),
    ]
    for (path, event, times) in asked {
        say("GET \(path)", try await outcome(of: path, persistent).get())
        try await log.wait(for: event, times: times).get()
        say("   how often the server was asked", log.count(of: event))
    }

    // What is slow at the server takes an hour, and the limit is ten seconds: both in a time that is moved on by hand.
    let slow = outcome(of: "/slow", transport)
    try await log.wait(for: .parked(path: "/slow")).get()
    let limited = outcome(of: "/slow", PersistentTransport(base: transport, context: clock, attempts: 1))
    clock.runReady()
    try await log.wait(for: .parked(path: "/slow"), times: 2).get()
    say("GET /birds.json, with two of /slow under way", try await outcome(of: "/birds.json", transport).get())
    clock.advance(by: .seconds(10))
    say("GET /slow, with a limit, ten seconds later", try await limited.get())
    try await log.wait(for: .left(path: "/slow")).get()
    clock.advance(by: .seconds(3_590))
    say("GET /slow, without a limit, an hour later", try await slow.get())
}

/// Shows that a request ends when the last of those who want its answer has cancelled (law 26).
func showCancelling(_ transport: some Transport, _ log: EventLog) async throws {
    let slow = transport.get("/slow")
    let (one, other) = (slow.map(\.count), slow.map(\.count))
    try await log.wait(for: .parked(path: "/slow"), times: 3).get()
    one.cancel()
    say("one of two cancels: the request", slow.isCompleted ? "has ended" : "goes on")
    other.cancel()
    try await log.wait(for: .left(path: "/slow"), times: 2).get()
    say("the other one, too: the request", slow.isCompleted ? "has ended, at the server as well" : "goes on")
}

/// What comes of a request, in words.
func outcome(of path: String, _ transport: some Transport) -> Async<String> {
    transport.get(path).map { "\($0.count) bytes" }.recover { error in
        (error as? URLError)?.localizedDescription ?? "\(error)"
    }
}
