import Dispatch
import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsWork
import Foundation

/// Whether each component has a private context, or all share one.
enum Arrangement: CaseIterable, Sendable {
    case apart
    case together

    var name: String { self == .apart ? "private" : "one shared" }
}

/// The three components with their caches, on private contexts or on a shared one.
///
/// Only this type knows which.
final class Stack: Sendable {
    let prefetcher: ImagePrefetcher
    let pipeline: ImagePipeline
    let loader: DataLoader
    let memory: MemoryCache
    let disk: DiskCache
    private let counted: [CountedContext]
    private let idle = DispatchSemaphore(value: 0)

    init(
        _ arrangement: Arrangement, cacheIn folder: URL,
        memory: MemoryCache = MemoryCache(limit: 64 << 20), recordedBy recorder: Recorder? = nil,
        reading read: @escaping @Sendable (String) throws -> [UInt8] = bytes(ofFile:)
    ) {
        let names = arrangement == .apart ? ["prefetcher", "pipeline", "loader"] : ["all"]
        let counted = names.map { CountedContext($0, recorder: recorder) }
        let (first, second, third) =
            arrangement == .apart
            ? (counted[0].context, counted[1].context, counted[2].context)
            : (counted[0].context, counted[0].context, counted[0].context)
        let images = GlobalContext().named(Self.imageWork)
        let files = GlobalContext().serial(named: Self.diskWrites)
        let work: PrioritizedQueue
        let writes: any SerialContext
        if let recorder {
            work = PrioritizedQueue(
                on: images.observed(by: recorder), limit: 2, name: Self.imageWork)
            writes = files.observed(by: recorder)
        } else {
            work = PrioritizedQueue(on: images, limit: 2, name: Self.imageWork)
            writes = files
        }
        self.counted = counted
        self.memory = memory
        disk = DiskCache(in: folder, on: writes)
        loader = DataLoader(on: third, readingOn: work, by: read)
        pipeline = ImagePipeline(
            on: second, loader: loader, memory: memory, disk: disk, decodingOn: work)
        prefetcher = ImagePrefetcher(on: first, pipeline: pipeline) { [idle] in idle.signal() }
    }

    /// The name under which images are looked up on disk, read, decoded and resized.
    static let imageWork = "images"
    /// The name under which images are written to the disk cache.
    static let diskWrites = "disk cache"

    /// Prefetches the images, waits for the last one, and returns the counts and times.
    func prefetch(_ requests: [ImageRequest]) -> Sample {
        let submissions = counted.map(\.submissions)
        let entries = counted.map(\.entries)
        let clock = ContinuousClock()
        let began = clock.now
        prefetcher.start(requests)
        let returned = clock.now
        idle.wait()
        let ended = clock.now
        // All submissions for the images are counted by now. Jobs that still wait in the contexts
        // are among them.
        let sample = Sample(
            submissions: zip(counted, submissions).reduce(0) { $0 + $1.0.submissions - $1.1 },
            entries: zip(counted, entries).reduce(0) { sum, each in
                guard let sum, let now = each.0.entries, let before = each.1 else { return nil }
                return sum + now - before
            },
            wall: ended - began, caller: returned - began, hold: .zero)
        waitUntilIdle()
        return sample.holding(counted.map(\.longestHold).max()!)
    }

    /// Waits until the jobs in the contexts have run.
    func waitUntilIdle() { for each in counted { try? each.context.submit {}.wait() } }
}

/// The counts and times of one prefetch.
struct Sample: Sendable {
    let submissions: Int
    let entries: Int?
    let wall: Duration
    let caller: Duration
    let hold: Duration

    func holding(_ hold: Duration) -> Sample {
        Sample(submissions: submissions, entries: entries, wall: wall, caller: caller, hold: hold)
    }
}
