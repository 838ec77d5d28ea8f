import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Testing

@testable import PrefetchDemo

/// What is loaded before anybody asks, and what becomes of it when somebody does or does not.
@Suite(.timeLimit(.minutes(30)))
struct PrefetchTests {
    // One at a time: who is more urgent is read first.
    private let rig = Rig(limit: 1)
    private let requests = (0..<6).map { ImageRequest(path: "\($0)", width: 4) }

    /// Moves on until nothing but the reading of files is left to do.
    private func untilReading() {
        rig.context.runReady()
        // The look-ups in the disk cache, which are low in priority as well.
        while rig.queue.pendingCount + rig.queue.runningCount > 0, rig.loader.liveCount < requests.count {
            rig.background.step()
            rig.context.runReady()
        }
    }

    @Test func `Law 32: a request for what is being prefetched makes it as urgent as the request`() {
        rig.prefetcher.start(requests)
        untilReading()
        #expect(rig.loader.liveCount == 6)
        let wanted = rig.pipeline.image(requests[5], priority: .high)
        rig.context.runReady()
        rig.runAll()
        #expect(try! wanted.outcome?.get() == image(5, width: 4))
        // The first has its place already; of those that wait, the one that somebody wants comes first.
        #expect(rig.reads.value.prefix(2).contains("5"))
        #expect(rig.reads.value.sorted() == (0..<6).map { "\($0)" })
    }

    @Test func `Law 31: what is no longer prefetched and nobody else wants is not read`() {
        rig.queue.suspend()
        rig.prefetcher.start(requests)
        rig.context.runReady()
        rig.prefetcher.stop(Array(requests.dropFirst()))
        rig.context.runReady()
        #expect(rig.pipeline.liveCount == 2)
        #expect(rig.queue.pendingCount == 1)
        rig.queue.resume()
        rig.runAll()
        #expect(rig.reads.value == ["0"])
        #expect(rig.pipeline.liveCount + rig.loader.liveCount == 0)
    }

    @Test func `Law 31: a file that waits to be read is called off with the last who wants it`() {
        rig.prefetcher.start(requests)
        untilReading()
        rig.prefetcher.stop(requests)
        rig.runAll()
        // The one that the background had been given already may begin or not; the others do not.
        #expect(rig.reads.value.count <= 1)
        #expect(rig.pipeline.liveCount + rig.loader.liveCount == 0)
        #expect(rig.queue.pendingCount + rig.queue.runningCount == 0)
    }

    @Test func `Law 31: what is no longer prefetched and somebody wants is read all the same`() {
        rig.prefetcher.start(requests)
        untilReading()
        let wanted = rig.pipeline.image(requests[4])
        rig.context.runReady()
        rig.prefetcher.stop(requests)
        rig.runAll()
        #expect(try! wanted.outcome?.get() == image(4, width: 4))
        #expect(rig.reads.value.contains("4"))
        #expect(rig.reads.value.count <= 2)
        #expect(rig.pipeline.liveCount + rig.loader.liveCount == 0)
    }

    @Test func `What is stopped and begun again is loaded, and its end is told once`() {
        let ends = Box(0)
        let prefetcher = ImagePrefetcher(on: rig.context, pipeline: rig.pipeline) {
            ends.withValue { $0 += 1 }
        }
        prefetcher.start(requests)
        prefetcher.stop(requests)
        prefetcher.start(requests)
        prefetcher.start(requests)
        rig.runAll()
        #expect(ends.value == 1)
        #expect(requests.allSatisfy { rig.pipeline.cached($0) != nil })
        #expect(rig.reads.value.count == 6)
    }

    @Test func `The late end of what was stopped is not taken for the end of what was begun again`() {
        let (own, ends) = (ManualContext(), Box(0))
        let prefetcher = ImagePrefetcher(on: own, pipeline: rig.pipeline) { ends.withValue { $0 += 1 } }
        prefetcher.start([requests[0]])
        own.runReady()
        prefetcher.stop([requests[0]])
        prefetcher.start([requests[0]])
        // The end comes before the prefetcher has stopped, and is told behind that.
        rig.runAll()
        own.runReady()
        #expect(ends.value == 0)
        rig.runAll()
        own.runReady()
        #expect(ends.value == 1)
    }
}
