import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// Fetches birds from a server that it starts itself, shows them, and shows where each thing happens.
@main
struct App {
    @MainActor
    static func main() async throws {
        print("Birds: a list from the network, and where its answers arrive")

        heading("A server on the loopback address")
        // What is slow at this server takes an hour, in a time that is moved on by hand.
        let clock = ManualContext(name: "the server's time")
        let log = EventLog()
        let server = try BirdServer(slowness: .seconds(3_600), clock: clock) { log.add($0) }
        say("it listens on", server.url)

        // One serial context for the session and for decoding; the main actor for what is on the screen.
        let background = GlobalContext().serial("birds")
        let transport = URLSessionTransport(base: server.url, on: background)
        let dataSource = BirdDataSource(
            transport: transport, workingOn: background, callingBackOn: MainContext())

        heading("A screen with birds and their pictures")
        let screen = BirdScreen()
        await withCheckedContinuation { done in screen.load(from: dataSource) { done.resume() } }
        try screen.expectBirds(BirdSite().names)
        for line in screen.lines { print("   " + line) }

        heading("Where things happen")
        try await showPlaces(dataSource, transport, background)

        heading("When the network is not at its best")
        for path in ["/nowhere", "/broken"] { say("GET \(path)", await outcome(of: path, transport)) }
        async let slow = outcome(of: "/slow", transport)
        await log.wait(for: .parked(path: "/slow"))
        say("GET /slow, which takes an hour", "no answer yet")
        say("GET /birds.json meanwhile", await outcome(of: "/birds.json", transport))
        clock.advance(by: .seconds(3_600))
        say("GET /slow, an hour later", await slow)

        heading("The end")
        await server.stop()
        say("connections that the server has had, all closed", log.connectionCount)
        say("GET /birds.json, with the server stopped", await outcome(of: "/birds.json", transport))
    }
}

private func heading(_ title: String) { print("\n\(title)") }

/// Says one thing that was seen.
func say(_ what: String, _ seen: some Any) { print("   " + what.padded(54) + "\(seen)") }

/// Something else happened than should have.
struct Surprise: Error { let what: String }

extension EventLog {
    /// How many connections have come to their end.
    fileprivate var connectionCount: Int {
        events.count { event in
            if case .parked = event { return false }
            return true
        }
    }
}

/// What comes of a request, in words.
private func outcome(of path: String, _ transport: some Transport) async -> String {
    await withCheckedContinuation { done in
        transport.get(path) { answer in
            switch answer {
            case .success(let data): done.resume(returning: "\(data.count) bytes")
            case .failure(let error as BirdError): done.resume(returning: "\(error)")
            case .failure(let error): done.resume(returning: error.localizedDescription)
            }
        }
    }
}
