import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

@testable import PrefetchDemo

/// The contents of the caches, their lifetime, and the place of an image while it is being written.
@Suite(.patient)
struct CacheTests {
    private let first = ImageRequest(path: "1", width: 4)
    private let second = ImageRequest(path: "2", width: 4)
    private let third = ImageRequest(path: "3", width: 4)

    @Test func `The memory cache keeps the images that were used last, up to its limit`() {
        // Room for two images of four by four pixels, with three bytes each.
        let memory = MemoryCache(limit: 100)
        memory[first] = image(1, width: 4)
        memory[second] = image(2, width: 4)
        #expect(memory[first] != nil)
        memory[third] = image(3, width: 4)
        #expect(memory[second] == nil)
        #expect(memory[first] == image(1, width: 4))
        #expect(memory[third] == image(3, width: 4))
        #expect(memory.cost == 96)
        memory[first] = image(1, width: 8)
        #expect(memory[first] == nil)
        #expect(memory.cost == 48)
    }

    @Test func `A reader sees what was stored: before a flush, while it runs and after it`() throws
    {
        let pictures = try PictureFolder(count: 0)
        let background = ManualContext()
        let seen = Box<[Image?]>([])
        let own = Box<DiskCache?>(nil)
        let cache = DiskCache(in: try pictures.cacheFolder(), on: background) {
            [first, second] bytes, file in
            // During the flush: the image that is being written, and those stored meanwhile.
            let cache = own.value!
            let isFirstTime = seen.value.isEmpty
            seen.withValue { $0.append(cache[first]) }
            if isFirstTime {
                cache[second] = image(2, width: 4)
                cache[first] = image(9, width: 4)
                seen.withValue { $0 += [cache[first], cache[second]] }
            }
            try Data(bytes).write(to: file)
        }
        own.value = cache
        defer { own.value = nil }
        cache[first] = image(1, width: 4)
        #expect(cache[first] == image(1, width: 4))
        #expect(cache.stagedCount == 1)
        try background.runUntilIdle()
        let (old, new, other) = (image(1, width: 4), image(9, width: 4), image(2, width: 4))
        // The second flush writes both, in any order.
        #expect(seen.value == [old, new, other, new, new])
        #expect(cache.stagedCount == 0)
        #expect(cache[first] == new)
        #expect(cache[second] == other)
    }

    @Test
    func `The next cache in the folder has the flushed images, but none that could not be written`()
        throws
    {
        let pictures = try PictureFolder(count: 0)
        let folder = try pictures.cacheFolder()
        let background = ManualContext()
        let cache = DiskCache(in: folder, on: background)
        cache[first] = image(1, width: 4)
        cache.flush()
        background.runReady()
        #expect(DiskCache(in: folder, on: background)[first] == image(1, width: 4))

        struct Full: Error {}
        let full = DiskCache(in: folder, on: background) { _, _ in throw Full() }
        full[second] = image(2, width: 4)
        #expect(full[second] != nil)
        full.flush()
        try background.runUntilIdle()
        #expect(full[second] == nil)
        #expect(full.stagedCount == 0)
    }

    @Test func `Law 7: many images are written in one flush, after the interval`() throws {
        let pictures = try PictureFolder(count: 0)
        let background = ManualContext()
        let writes = Box(0)
        let cache = DiskCache(
            in: try pictures.cacheFolder(), on: background, flushingEvery: .seconds(1)
        ) { _, _ in writes.withValue { $0 += 1 } }
        for number in 0..<10 {
            cache[ImageRequest(path: "\(number)", width: 4)] = image(number, width: 4)
        }
        background.advance(by: .milliseconds(999))
        #expect(writes.value == 0)
        #expect(background.delayedCount == 1)
        background.advance(by: .milliseconds(1))
        #expect(writes.value == 10)
        #expect(cache.stagedCount == 0)
    }

    @Test func `Sixteen threads that read beside flushes see each image that was stored`()
        async throws
    {
        let pictures = try PictureFolder(count: 0)
        let folder = try pictures.cacheFolder()
        await watched {
            let cache = DiskCache(
                in: folder, on: GlobalContext().serial(named: "disk"),
                flushingEvery: .milliseconds(1))
            onThreads(16) { (thread: Int) in
                for number in 0..<rounds(debug: 20, release: 100) {
                    let request = ImageRequest(path: "\(thread) \(number % 5)", width: 4)
                    cache[request] = image(number, width: 4)
                    #expect(cache[request] == image(number, width: 4))
                }
            }
            try! cache.flush().wait()
            #expect(cache.stagedCount == 0)
        }
    }
}
