import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import Foundation
import Testing

/// The page as text; `.ci/browser` checks that a browser can use it.
struct TimelineTests {
    static let evil = "</script><script>alert(1)</script><b onclick='x'>&\"\u{2028}日本 🐦"

    @Test func `No name can inject markup into the page`() throws {
        let recorder = Recorder()
        ImmediateContext().named(Self.evil).observed(by: recorder).execute {}
        let page = recorder.timelineHTML(title: Self.evil)
        #expect(!page.contains("alert(1)</script>"))
        #expect(!page.contains("<b onclick"))
        let usual = Recorder()
        ImmediateContext().named("usual").observed(by: usual).execute {}
        for tag in ["<script", "</script", "<b>", "<style", "</title"] {
            let count = page.components(separatedBy: tag).count
            #expect(count == usual.timelineHTML().components(separatedBy: tag).count, "\(tag)")
        }
        // The name is in the page, unchanged.
        #expect(try data(of: page).lanes[0] == Self.evil)
        #expect(page.contains("&lt;b onclick=&#39;x&#39;&gt;&amp;&quot;"))
    }

    @Test func `The page has each job, with its times relative to the first event`() throws {
        let recorder = Recorder()
        let manual = ManualContext(name: "base")
        let view = manual.observed(by: recorder)
        manual.advance(by: .seconds(9))
        view.execute { manual.stall(for: .nanoseconds(20)) }
        manual.stall(for: .nanoseconds(10))
        manual.runReady()
        view.execute {}
        let jobs = try data(of: recorder.timelineHTML()).jobs
        // Submitted, waited, ran, and the number: differences, see `TimelineNumbers`.
        #expect(jobs.map { Array($0[2...5]) } == [[0, 10, 20, 1], [30, -1, -1, 1]])
    }

    @Test func `An empty recording is a page that says so`() throws {
        let page = Recorder().timelineHTML()
        #expect(page.contains("Nothing was recorded."))
        #expect(!page.contains("<canvas"))
        #expect(try data(of: page).jobs.isEmpty)
    }

    @Test func `The page says how many events were overwritten`() {
        let recorder = Recorder(capacity: 4)
        let view = ImmediateContext().observed(by: recorder)
        for _ in 0..<3 { view.execute {} }
        #expect(recorder.timelineHTML().contains("5 older events were overwritten"))
    }

    @Test func `The page loads nothing from elsewhere`() {
        let page = Recorder().timelineHTML()
        for word in ["http:", "https:", "src=", "href=", "@import", "url("] {
            #expect(!page.contains(word), "\(word)")
        }
    }

    private func data(of page: String) throws -> (lanes: [String], jobs: [[Int]]) {
        let start = try #require(page.range(of: "id=\"data\">"))
        let end = try #require(page.range(of: "</script>", range: start.upperBound..<page.endIndex))
        let text = page[start.upperBound..<end.lowerBound]
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let lanes = try #require(object?["lanes"] as? [[Any]])
        return (lanes.map { $0[0] as? String ?? "" }, try #require(object?["jobs"] as? [[Int]]))
    }
}
