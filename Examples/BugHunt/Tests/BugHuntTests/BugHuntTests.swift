import ExecutionContextsTesting
import Foundation
import Pages
import TestSupport
import Testing

@testable import BugHunt

/// The ticket office behaves as `Docs/Testing.md` says.
@Suite(.patient)
struct BugHuntTests {
    /// The folder of this package.
    private let package = URL(filePath: #filePath).appending(path: "../../..").standardized

    private func page() throws -> String {
        let page = package.appending(path: "../../Docs/Testing.md")
        return try String(contentsOf: page, encoding: .utf8)
    }

    @Test func `The failure that the page shows is the failure that is found`() throws {
        let failure = try #require(hunt(isMended: false).failure)
        #expect(failure.kind == .history)
        try expectOnPage(failure)
    }

    /// A build without source locations shows the rest.
    private func expectOnPage(_ failure: SimulationFailure) throws {
        let lines = failure.description.split(separator: "\n")
        let isWhole = lines.contains { $0.contains(".swift:") && $0.contains(" | ") }
        let text = isWhole ? failure.description : String(lines.last ?? "none")
        #expect(try page().contains("\n\(text)\n"), "\(failure)")
    }

    @Test func `The token replays the failure, and the careful office passes`() throws {
        let token = try #require(hunt(isMended: false).failure?.token)
        let again = try #require(hunt(isMended: false, replay: token).failure)
        #expect(try page().contains("\n\(again.description.split(separator: "\n").last!)\n"))
        // The mended office has other operations, so its replay reports that it proves nothing.
        #expect(hunt(isMended: true, replay: token).failure?.kind == .unfit)
        let mended = hunt(isMended: true)
        #expect(mended.failure == nil)
        #expect(mended.schedules == 1_000)
        #expect(try page().contains("\n\(mended)\n"), "\(mended)")
    }

    @Test func `The drawing tells each reservation, its answer and each change of customer`() throws
    {
        let failure = try #require(hunt(isMended: false).failure)
        // Without the source lines, so that a build without them gives the same text.
        #expect(failure.trace == Self.drawing, "\(failure.trace.joined(separator: "\n"))")
        for row in Self.drawing.dropFirst(2) {
            let texts = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            for text in texts where !text.isEmpty && !text.contains(where: { "<>".contains($0) }) {
                #expect(failure.page.contains(">\(text)</td>"), "\(text)")
            }
        }
        #expect(failure.page.components(separatedBy: "'arrow ").count == 6)
    }

    private static let drawing = [
        "alice             | bob                | carol",
        "------------------+--------------------+------------------",
        "begins reserve(7) |                    |",
        "uses 'seats'      |                    |",
        "  --- switch 1 ---->                   |",
        "                  | begins reserve(8)  |",
        "                  | uses 'seats'       |",
        "                  | sleeps             |",
        "                  |   ...............> | begins reserve(7)",
        "                  |                    | uses 'seats'",
        "                  |                    | sleeps",
        "uses 'seats'      | <...................................",
        "reserve(7) = true |                    |",
        "begins reserve(8) |                    |",
        "uses 'seats'      |                    |",
        "reserve(8) = true |                    |",
        "ends              |                    |",
        "  ..............> | uses 'seats'       |",
        "                  | reserve(8) = true  |",
        "                  | begins reserve(7)  |",
        "                  | uses 'seats'       |",
        "                  | reserve(7) = false |",
        "                  | ends               |",
        "                  |   ...............> | uses 'seats'",
        "                  |                    | reserve(7) = true",
        "                  |                    | ends",
    ]

    @Test(arguments: [Demonstration.ofContexts, .ofActor])
    func `The program draws the failure, writes its page, and finds nothing in the mended office`(
        office: Demonstration
    ) async throws {
        let path = try pagePath("\(office.name).html", of: "bug-hunt")
        try? FileManager.default.removeItem(atPath: path)
        #expect(try await office.run())
        let failure = try #require(await office.search(false, nil).failure)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == failure.page)
    }

    @Test(arguments: ["TicketOffice", "BoxOffice"])
    func `The program that the page shows is the program that is run`(name: String) throws {
        let source = package.appending(path: "Sources/BugHunt/\(name).swift")
        let page = try page()
        for part in try String(contentsOf: source, encoding: .utf8).components(separatedBy: "\n\n")
        {
            #expect(page.contains(part.trimmingCharacters(in: .newlines)), "\(part)")
        }
    }

    @Test func `The failure of the actor is the one that the page shows, and its twin passes`()
        async throws
    {
        let failure = try #require(await huntInActor(isMended: false).failure)
        #expect(failure.kind == .threw)
        let again = await huntInActor(isMended: false, replay: failure.token).failure
        #expect(again?.happened == failure.happened)
        #expect(await huntInActor(isMended: true).failure == nil)
        #if DEBUG
        // The optimizer names functions otherwise, and Apple platforms name none.
        guard failure.trace.contains(where: { $0.contains("re-entered") }) else { return }
        #expect(try page().contains("\n\(failure.description)\n"), "\(failure)")
        #endif
    }
}
