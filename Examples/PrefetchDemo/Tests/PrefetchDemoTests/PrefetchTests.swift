import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

@testable import PrefetchDemo

/// Images that are loaded before they are requested, with and without a later request.
@Suite(.patient)
struct PrefetchTests {
    // One at a time: the more urgent file is read first.
    private let rig = Rig(limit: 1)
    private let requests = (0..<6).map { ImageRequest(path: "\($0)", width: 4) }

    /// Runs jobs until only the reading of files is left.
    private func untilReading() {
        rig.context.runReady()
        // The look-ups in the disk cache, which also have low priority.
        while rig.queue.pendingCount + rig.queue.runningCount > 0,
            rig.loader.liveCount < requests.count
        {
            rig.background.step()
            rig.context.runReady()
        }
    }

    @Test
    func `Law 32: a request for an image that is being prefetched raises it to its own priority`() {
        rig.prefetcher.start(requests)
        untilReading()
        #expect(rig.loader.liveCount == 6)
        let wanted = rig.pipeline.image(requests[5], priority: .high)
        rig.context.runReady()
        rig.runAll()
        #expect(try! wanted.outcome?.get() == image(5, width: 4))
        // The first job has its permit already. Of the queued ones, the requested one comes first.
        #expect(rig.reads.value.prefix(2).contains("5"))
        #expect(rig.reads.value.sorted() == (0..<6).map { "\($0)" })
    }

    @Test func `Law 31: an image whose prefetch was stopped, and that has no request, is not read`()
    {
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

    @Test func `Law 31: a queued read is cancelled with its last subscriber`() {
        rig.prefetcher.start(requests)
        untilReading()
        rig.prefetcher.stop(requests)
        rig.runAll()
        // The read that was handed to the background already may begin. The others do not.
        #expect(rig.reads.value.count <= 1)
        #expect(rig.pipeline.liveCount + rig.loader.liveCount == 0)
        #expect(rig.queue.pendingCount + rig.queue.runningCount == 0)
    }

    @Test func `Law 31: an image whose prefetch was stopped, and that has a request, is read`() {
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

    @Test
    func `A prefetch that is stopped and begun again loads its images, and reports its end once`() {
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

    @Test func `The late end of a stopped prefetch does not count as the end of one begun again`() {
        let (own, ends) = (ManualContext(), Box(0))
        let prefetcher = ImagePrefetcher(on: own, pipeline: rig.pipeline) {
            ends.withValue { $0 += 1 }
        }
        prefetcher.start([requests[0]])
        own.runReady()
        prefetcher.stop([requests[0]])
        prefetcher.start([requests[0]])
        // The end happens before the prefetcher has stopped, and is delivered after the stop.
        rig.runAll()
        own.runReady()
        #expect(ends.value == 0)
        rig.runAll()
        own.runReady()
        #expect(ends.value == 1)
    }
}
