import ExecutionContexts
import ExecutionContextsWork
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PrefetchDemo

/// Three pipelines over one loader, used by sixteen threads at random.
@Suite(.patient)
struct BadDayTests {
    /// The outcome of one request.
    private final class Request: Sendable {
        let ends = Atomic(0)
        let hasLeft = Atomic(false)
    }

    @Test(arguments: Arrangement.allCases)
    func
        `Laws 31, 32: under random use each request that stays receives one end, and no work is left`(
            arrangement: Arrangement
        ) async throws
    {
        let pictures = try PictureFolder(count: 20, width: 8, height: 8)
        let cache = try pictures.cacheFolder()
        await watched {
            // One context for each of three pipelines and for the loader, or one for all of them.
            let contexts =
                arrangement == .apart
                ? (0..<4).map { _ in CountedContext("bad day") }
                : Array(repeating: CountedContext("bad day"), count: 4)
            let queue = PrioritizedQueue(on: .global, limit: 3)
            let reads = Atomic(0)
            let loader = DataLoader(on: contexts[3].context, readingOn: queue) { path in
                reads.add(1, ordering: .relaxed)
                return try bytes(ofFile: path)
            }
            // Two pipelines have small memory caches, and so load images again and again.
            let pipelines = zip(contexts, [1 << 20, 200, 0]).map { counted, limit in
                let context = counted.context
                return ImagePipeline(
                    on: context, loader: loader, memory: MemoryCache(limit: limit),
                    disk: DiskCache(in: cache, on: GlobalContext().serial(named: "disk")),
                    decodingOn: queue)
            }
            // The last file does not exist.
            let paths = pictures.paths + ["nowhere"]
            let requests = Box<[Request]>([])
            onThreads(16) { (_: Int) in
                var rng = SystemRandomNumberGenerator()
                var mine: [(request: Request, subscription: Subscription)] = []
                for _ in 0..<1_000 {
                    switch Int.random(in: 0..<4, using: &rng) {
                    case 0, 1:
                        let request = Request()
                        let number = Int.random(in: 0..<paths.count, using: &rng)
                        let width = Int.random(in: 2...3, using: &rng)
                        let subscription = pipelines.randomElement(using: &rng)!.load(
                            ImageRequest(path: paths[number], width: width),
                            priority: WorkPriority.allCases.randomElement(using: &rng)!
                        ) { outcome in
                            request.ends.add(1, ordering: .relaxed)
                            let expected = number < 20 ? image(number, width: width) : nil
                            #expect((try? outcome.get()) == expected)
                        }
                        mine.append((request, subscription))
                    case 2:
                        guard let one = mine.randomElement(using: &rng) else { continue }
                        if one.subscription.cancel() {
                            one.request.hasLeft.store(true, ordering: .relaxed)
                        }
                    default:
                        mine.randomElement(using: &rng)?.subscription.priority =
                            WorkPriority.allCases.randomElement(using: &rng)!
                    }
                }
                requests.withValue { $0 += mine.map(\.request) }
            }
            // The last requests join the work in flight or begin it anew. So all of it ends.
            for pipeline in pipelines {
                for path in paths {
                    for width in 2...3 {
                        _ = try? pipeline.image(ImageRequest(path: path, width: width)).wait()
                    }
                }
            }
            // The last jobs may still be pending, and so may their submissions to the loader.
            for counted in contexts { try! counted.context.submit {}.wait() }
            for pipeline in pipelines { #expect(pipeline.liveCount == 0) }
            #expect(loader.liveCount == 0)
            for request in requests.value {
                let left = request.hasLeft.load(ordering: .relaxed)
                #expect(request.ends.load(ordering: .relaxed) == (left ? 0 : 1))
            }
            #expect(reads.load(ordering: .relaxed) >= 20)
            #expect(queue.pendingCount == 0)
        }
    }
}
