import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Foundation
import TestSupport
import Testing

@testable import PrefetchDemo

/// How many jobs enter the contexts, by the observer's count and by Dispatch's own count.
@Suite(.patient)
struct SubmissionTests {
    @Test(arguments: [1, 4, 20], Arrangement.allCases)
    func
        `Law 6: prefetching cached images takes 1 + 2N submissions on private contexts, 1 on a shared one`(
            count: Int, arrangement: Arrangement
        ) async
    {
        await watched {
            let requests = (0..<count).map { ImageRequest(path: "\($0)", width: 8) }
            let memory = MemoryCache(limit: 1 << 20)
            for (number, request) in requests.enumerated() {
                memory[request] = image(number, width: 8)
            }
            let nowhere = FileManager.default.temporaryDirectory.appendingPathComponent(
                "no such folder")
            for _ in 0..<rounds(debug: 20, release: 200) {
                let sample = Stack(arrangement, cacheIn: nowhere, memory: memory).prefetch(requests)
                #expect(sample.submissions == (arrangement == .apart ? 1 + 2 * count : 1))
                if CountedContext.hasEntries { #expect(sample.entries == sample.submissions) }
            }
        }
    }

    @Test(arguments: Arrangement.allCases)
    func `Images are prefetched from their files, and both counts agree`(arrangement: Arrangement)
        async throws
    {
        let pictures = try PictureFolder(count: 20, width: 16, height: 16)
        let cache = try pictures.cacheFolder()
        await watched {
            let requests = pictures.paths.map { ImageRequest(path: $0, width: 4) }
            let stack = Stack(arrangement, cacheIn: cache)
            let sample = stack.prefetch(requests)
            #expect(sample.submissions <= (arrangement == .apart ? 1 + 7 * 20 : 1 + 5 * 20))
            if CountedContext.hasEntries { #expect(sample.entries == sample.submissions) }
            for (number, request) in requests.enumerated() {
                #expect(stack.pipeline.cached(request) == image(number, size: 16, width: 4))
            }
            #expect(stack.pipeline.liveCount + stack.loader.liveCount == 0)
            // Once more, from the disk cache, by another stack with nothing in memory.
            try! stack.disk.flush().wait()
            let again = Stack(arrangement, cacheIn: cache) { path in
                Issue.record("\(path) was read again")
                return []
            }
            _ = again.prefetch(requests)
            #expect(again.pipeline.cached(requests[7]) == image(7, size: 16, width: 4))
        }
    }

    @Test func `An image in memory is available at once, without a submission`() {
        let rig = Rig()
        let request = ImageRequest(path: "3", width: 4)
        #expect(rig.pipeline.cached(request) == nil)
        rig.memory[request] = image(3, width: 4)
        #expect(rig.pipeline.cached(request) == image(3, width: 4))
        #expect(rig.context.readyCount + rig.background.readyCount == 0)
    }

    @Test func `The observer's count and Dispatch's count agree, and neither includes inline jobs`()
        async
    {
        await watched {
            let counted = CountedContext("a test")
            for _ in 0..<10 { counted.context.execute {} }
            try! counted.context.submit {}.wait()
            let (work, end) = (counted.context.with(.inlineIfCurrent), DispatchSemaphore(value: 0))
            work.execute {
                // These run inline, so none of them enters.
                for _ in 0..<10 { work.execute {} }
                end.signal()
            }
            end.wait()
            #expect(counted.submissions == 12)
            #expect(counted.entries == (CountedContext.hasEntries ? 12 : nil))
        }
    }
}
