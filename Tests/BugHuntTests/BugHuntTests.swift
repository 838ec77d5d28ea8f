import ExecutionContextsTesting
import Foundation
import Testing

@testable import BugHunt

/// The ticket office behaves as `Docs/Testing.md` says.
@Suite(.timeLimit(.minutes(30)))
struct BugHuntTests {
    private func page() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "Docs/Testing.md"), encoding: .utf8)
    }

    @Test func `The failure that the page shows is the failure that is found`() throws {
        let failure = try #require(throws: SimulationFailure.self) { try hunt(isMended: false) }
        #expect(failure.kind == .history)
        try expectOnPage(failure)
    }

    /// A build without locations in sources tells the rest.
    private func expectOnPage(_ failure: SimulationFailure) throws {
        let lines = failure.description.split(separator: "\n")
        let isWhole = lines.contains { $0.contains(".swift:") && $0.contains(" | ") }
        let text = isWhole ? failure.description : String(lines.last ?? "none")
        #expect(try page().contains("\n\(text)\n"), "\(failure)")
    }

    @Test func `The token replays the failure, and the careful office passes`() throws {
        let token = try #require(throws: SimulationFailure.self) { try hunt(isMended: false) }.token
        let again = try #require(throws: SimulationFailure.self) {
            try hunt(isMended: false, replay: token)
        }
        #expect(try page().contains("\n\(again.description.split(separator: "\n").last!)\n"))
        // The mended office has other operations, so its replay shows nothing, and says so.
        let mended = try #require(throws: SimulationFailure.self) {
            try hunt(isMended: true, replay: token)
        }
        #expect(mended.kind == .unfit)
        #expect(throws: Never.self) { try hunt(isMended: true) }
    }

    @Test(arguments: ["TicketOffice", "BoxOffice"])
    func `The program that the page shows is the program that is run`(name: String) throws {
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Examples/BugHunt/\(name).swift")
        let page = try page()
        for part in try String(contentsOf: source, encoding: .utf8).components(separatedBy: "\n\n")
        {
            #expect(page.contains(part.trimmingCharacters(in: .newlines)), "\(part)")
        }
    }

    @Test func `The failure of the actor is the one that the page shows, and its twin passes`()
        async throws
    {
        let failure = try await #require(throws: SimulationFailure.self) {
            try await huntInActor(isMended: false)
        }
        #expect(failure.kind == .threw)
        let again = try await #require(throws: SimulationFailure.self) {
            try await huntInActor(isMended: false, replay: failure.token)
        }
        #expect(again.happened == failure.happened)
        await #expect(throws: Never.self) { try await huntInActor(isMended: true) }
        #if DEBUG
        // The optimizer names functions otherwise, and Apple platforms name none.
        guard failure.trace.contains(where: { $0.contains("re-entered") }) else { return }
        #expect(try page().contains("\n\(failure.description)\n"), "\(failure)")
        #endif
    }
}
