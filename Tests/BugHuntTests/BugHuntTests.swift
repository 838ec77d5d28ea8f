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
        #expect(try page().contains("\n\(failure.description)\n"), "\(failure)")
    }

    @Test func `The token replays the failure, and the careful office passes`() throws {
        let token = try #require(throws: SimulationFailure.self) { try hunt(isMended: false) }.token
        let again = try #require(throws: SimulationFailure.self) {
            try hunt(isMended: false, replay: token)
        }
        #expect(try page().contains("\n\(again.description.split(separator: "\n").last!)\n"))
        #expect(throws: Never.self) { try hunt(isMended: true, replay: token) }
        #expect(throws: Never.self) { try hunt(isMended: true) }
    }

    @Test func `The program that the page shows is the program that is run`() throws {
        let source = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Examples/BugHunt/TicketOffice.swift")
        let page = try page()
        for part in try String(contentsOf: source, encoding: .utf8).components(separatedBy: "\n\n")
        {
            #expect(page.contains(part.trimmingCharacters(in: .newlines)), "\(part)")
        }
    }
}
