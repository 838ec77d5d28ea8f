import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Foundation

@testable import PrefetchDemo

/// The components on manual contexts, with files that exist in a dictionary only.
struct Rig {
    let context = ManualContext()
    /// Where files are read and images are decoded.
    let background = ManualContext(name: "background")
    let queue: PrioritizedQueue
    let loader: DataLoader
    let memory = MemoryCache(limit: 1 << 20)
    let disk: DiskCache
    let pipeline: ImagePipeline
    let prefetcher: ImagePrefetcher
    /// The files that were read, in order.
    let reads = Box<[String]>([])
    let files = Box<[String: [UInt8]]>([:])

    init(limit: Int = 2) {
        queue = PrioritizedQueue(on: background, limit: limit)
        loader = DataLoader(on: context, readingOn: queue) { [reads, files] path in
            reads.withValue { $0.append(path) }
            guard let bytes = files.value[path] else { throw ImageError.missing(path) }
            return bytes
        }
        // A folder that does not exist: nothing is found in it.
        let nowhere = FileManager.default.temporaryDirectory.appendingPathComponent(
            "no folder \(UUID().uuidString)")
        disk = DiskCache(in: nowhere, on: ManualContext(name: "disk"))
        pipeline = ImagePipeline(
            on: context, loader: loader, memory: memory, disk: disk, decodingOn: queue)
        prefetcher = ImagePrefetcher(on: context, pipeline: pipeline)
        for number in 0..<10 {
            files.withValue { $0["\(number)"] = Image(width: 8, height: 8, number: number).encoded }
        }
    }

    func runAll() { while context.runReady() + background.runReady() > 0 {} }
}

/// The image that a request leads to, made without the components.
func image(_ number: Int, size: Int = 8, width: Int) -> Image {
    Image(width: size, height: size, number: number).resized(toWidth: width)
}
