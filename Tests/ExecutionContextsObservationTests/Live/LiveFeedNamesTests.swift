import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

@testable import ExecutionContextsObservation

/// Names and labels in the messages to a client, while they come and go.
struct LiveFeedNamesTests {
    /// What a page knows: `live.js` in short.
    private struct Page {
        var lanes: [Int: String] = [:]
        var titles: [String] = []
        /// The names of the jobs that were submitted, in order.
        var submitted: [String] = []

        mutating func receive(_ message: [UInt8]) throws {
            let text = message.dropFirst("data: ".utf8.count)
            let object = try JSONSerialization.jsonObject(with: Data(text))
            let message = try #require(object as? [String: Any])
            if message["first"] != nil { (lanes, titles) = ([:], []) }
            if message["retitled"] != nil { titles = [] }
            for lane in message["lanes"] as? [[Any]] ?? [] {
                lanes[try #require(lane[3] as? Int)] = lane[0] as? String
            }
            titles += message["titles"] as? [String] ?? []
            for event in message["events"] as? [[Int]] ?? [] where event[0] == 0 {
                submitted.append("\(lanes[event[1]] ?? "none"): \(titles[event[12] - 1])")
            }
        }
    }

    @Test(arguments: [7, 900])
    func `A page shows the names and labels of now, and keeps a bounded number`(burst: Int) throws {
        let recorder = Recorder(capacity: 3_000, mostNames: 1_200)
        var feed = LiveFeed()
        var page = Page()
        var expected: [String] = []
        for number in 0..<4_500 {
            let view = ImmediateContext().named("name \(number)").observed(by: recorder)
            view.labeled("label \(number)").execute {}
            expected.append("name \(number): label \(number)")
            guard number % burst == 0 else { continue }
            var isLast = false
            while !isLast {
                let (message, last) = feed.next(from: recorder, [:], SystemTime.shared.now)
                try page.receive(message)
                isLast = last
            }
            // The page has all that was reported.
            #expect(page.submitted.count == expected.count)
            #expect(page.submitted.last == expected.last)
        }
        #expect(page.submitted == Array(expected.prefix(page.submitted.count)))
        #expect(page.lanes.count <= 1_200)
        #expect(page.titles.count <= 1_400)
    }

    @Test func `A feed of endlessly many time sources starts over`() throws {
        let recorder = Recorder()
        var feed = LiveFeed()
        var most = 0
        // All at a time, so that each has an identity of its own.
        let contexts = (0..<1_500).map { _ in ManualContext(name: "manual") }
        for (number, manual) in contexts.enumerated() {
            manual.observed(by: recorder).execute {}
            manual.runReady()
            guard number % 50 == 0 else { continue }
            let (message, _) = feed.next(from: recorder, [:], SystemTime.shared.now)
            let text = String(decoding: message, as: UTF8.self)
            let now = try #require(text.range(of: "\"now\":["))
            most = max(most, text[now.upperBound...].count { $0 == "," } + 1)
        }
        #expect(most > 900 && most < 1_200)
    }
}
