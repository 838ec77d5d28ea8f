import ExecutionContexts
import ExecutionContextsWork

/// Loads images from memory, from the disk cache or from files. It is confined to the injected
/// context.
///
/// Equal requests share one load, and all sizes of an image share one read of its file.
final class ImagePipeline: Sendable {
    private let memory: MemoryCache
    private let images: SingleFlight<ImageRequest, Image>

    init(
        on context: some SerialContext, loader: DataLoader, memory: MemoryCache, disk: DiskCache,
        decodingOn queue: PrioritizedQueue
    ) {
        self.memory = memory
        let graph = WorkGraph(on: context)
        let files = SingleFlight<String, [UInt8]>(name: "data", in: graph) { path, flight in
            flight.follow(loader[path])
        }
        let stored = SingleFlight<ImageRequest, Image?>(name: "stored image", in: graph) {
            request, flight in
            flight.follow(
                queue.submit(priority: flight.priority) {
                    let image = disk[request]
                    if let image { memory[request] = image }
                    return image
                })
        }
        let made = SingleFlight<ImageRequest, Image>(name: "new image", in: graph) {
            request, flight in
            flight.process(files[request.path], on: queue) { bytes, _ in
                let image = try Image(decoding: bytes, from: request.path).resized(
                    toWidth: request.width)
                memory[request] = image
                disk[request] = image
                return image
            }
        }
        images = SingleFlight(name: "image", in: graph) { request, flight in
            if let image = memory[request] { return _ = flight.succeed(image) }
            flight.depend(on: stored[request]) { event in
                switch event.outcome {
                case .success(let image?): flight.succeed(image)
                case .success(nil): flight.follow(made[request])
                case .failure(let error): flight.fail(error)
                case nil: break
                }
            }
        }
    }

    /// The image, if it is in memory. The look-up runs on the caller, without a submission.
    func cached(_ request: ImageRequest) -> Image? { memory[request] }

    /// Calls `completion` with the image or an error, on the pipeline's context, unless the
    /// subscription is cancelled before.
    @discardableResult
    func load(
        _ request: ImageRequest, priority: WorkPriority = .medium,
        _ completion: @escaping @Sendable (Result<Image, any Error>) -> Void
    ) -> Subscription {
        images[request].subscribe(priority: priority) { event in
            if let outcome = event.outcome { completion(outcome) }
        }
    }

    /// The image, as an `Async`.
    func image(_ request: ImageRequest, priority: WorkPriority = .medium) -> Async<Image> {
        images[request].value(priority: priority)
    }

    /// How many work items of this pipeline have not ended.
    var liveCount: Int { images.graph.liveCount }
}
