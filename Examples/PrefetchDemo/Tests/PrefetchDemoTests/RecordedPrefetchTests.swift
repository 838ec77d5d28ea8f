import ExecutionContexts
import ExecutionContextsObservation
import Foundation
import TestSupport
import Testing

@testable import PrefetchDemo

/// The recordings of the two arrangements.
@Suite(.patient)
struct RecordedPrefetchTests {
    @Test(arguments: Arrangement.allCases)
    func `A recorded prefetch shows the jobs of each context apart from the work on images`(
        arrangement: Arrangement
    ) async throws {
        let pictures = try PictureFolder(count: 12, width: 16, height: 16)
        await watched {
            do { try check(arrangement, pictures) } catch { Issue.record(error) }
        }
    }
}

private func check(_ arrangement: Arrangement, _ pictures: PictureFolder) throws {
    let prefetch = try RecordedPrefetch(arrangement, of: pictures)
    let jobs = prefetch.recorder.jobs
    let contexts = Set(jobs.map(\.context)).subtracting([Stack.diskWrites])
    #expect(
        contexts
            == (arrangement == .apart
                ? ["prefetcher", "pipeline", "loader", "images"] : ["all", "images"]))
    let images = jobs.filter { $0.context == Stack.imageWork }
    let rest = jobs.filter { contexts.subtracting([Stack.imageWork]).contains($0.context) }
    #expect(prefetch.ofImages <= images.compactMap(\.ran).reduce(.zero, +))
    #expect(prefetch.ofContexts <= rest.compactMap(\.ran).reduce(.zero, +))
    #expect((0...1).contains(prefetch.share))
    let path = try prefetch.writeTimeline(of: "prefetch-demo-tests")
    let page = try String(contentsOfFile: path, encoding: .utf8)
    #expect(contexts.allSatisfy { page.contains($0) })
}
