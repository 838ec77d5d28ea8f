import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Pages

/// Fetches birds from a server that it starts itself, and shows them and the contexts in use.
@main
struct App {
    @MainActor
    static func main() async throws {
        print("Birds: a list from the network, and where its answers arrive")

        heading("A server on the loopback address")
        let clock = ManualContext(name: "virtual time")
        let log = EventLog()
        let server = try BirdServer(slowness: .seconds(3_600), clock: clock) { log.add($0) }
        say("it listens on", server.url)

        // One serial context for the session, for decoding, and for time limits and back-off.
        // The recorder shows its jobs, those of the screen, and each request.
        let recorder = Recorder()
        let background = GlobalContext().serial(named: "birds").observed(by: recorder)
        let transport = RecordedTransport(
            base: URLSessionTransport(base: server.url, on: background), recorder: recorder)
        let dataSource = BirdDataSource(
            transport: PersistentTransport(base: transport, context: background),
            workingOn: background)

        heading("A screen with birds and their pictures")
        let screen = BirdScreen()
        let main = MainContext().observed(by: recorder)
        await withCheckedContinuation { done in
            screen.load(from: dataSource, on: main) { done.resume() }
        }
        try screen.expectBirds(BirdSite().names)
        for line in try screen.lines() { print("   " + line) }

        heading("On which context each answer arrives")
        try await showPlaces(dataSource, transport, background)

        heading("When requests fail or take long")
        try await showBadDays(transport, clock, log)

        heading("When subscribers cancel")
        try await showCancelling(transport, log)

        heading("The end")
        await server.stop()
        say("connections that the server had, all closed", log.connectionCount)
        say(
            "GET /birds.json, with the server stopped",
            try await outcome(of: "/birds.json", transport).get())
        let path = try pagePath("timeline.html", of: "birds")
        try recorder.writeTimeline(to: path, title: "Birds: requests, decoding and the screen")
        say("the timeline of all this, for any browser", path)
    }
}

private func heading(_ title: String) { print("\n\(title)") }

/// Prints one observation.
func say(_ what: String, _ seen: some Any) { print("   " + what.padded(54) + "\(seen)") }

/// An observation that is not the expected one.
struct Surprise: Error { let what: String }

extension EventLog {
    /// How many connections have ended.
    fileprivate var connectionCount: Int {
        events.count { event in
            if case .parked = event { return false }
            return true
        }
    }
}
