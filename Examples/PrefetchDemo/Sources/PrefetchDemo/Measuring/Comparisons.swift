import ExecutionContexts

extension Comparison {
    /// The images are in memory, so only the calls among the components remain.
    static func warm(_ pictures: PictureFolder, rounds: Int) throws -> Comparison {
        let folder = try pictures.cacheFolder()
        return Comparison(
            title: "Images that are in memory", rounds: rounds,
            claim: { arrangement in
                arrangement == .apart
                    ? ("1 + 2N", { 1 + 2 * $0...1 + 2 * $0 }) : ("1", { _ in 1...1 })
            },
            sample: { arrangement, count in
                let requests = pictures.paths.prefix(count).map { ImageRequest(path: $0, width: 8) }
                let memory = MemoryCache(limit: 1 << 20)
                for (number, request) in requests.enumerated() {
                    memory[request] = Image(width: 8, height: 6, number: number)
                }
                return Stack(arrangement, cacheIn: folder, memory: memory).prefetch(requests)
            })
    }

    /// No image is cached: each one is looked up, its file is read, and it is decoded and resized.
    static func cold(_ pictures: PictureFolder, rounds: Int) -> Comparison {
        Comparison(
            title: "Images from their files", rounds: rounds,
            claim: { arrangement in
                // A result that is ready at the subscription is delivered inline, so these are
                // limits.
                arrangement == .apart
                    ? ("<= 1 + 7N", { 1 + 4 * $0...1 + 7 * $0 }) : ("<= 1 + 5N", { 1...1 + 5 * $0 })
            },
            sample: { arrangement, count in
                let requests = pictures.paths.prefix(count).map {
                    ImageRequest(path: $0, width: 48)
                }
                return Stack(arrangement, cacheIn: try pictures.cacheFolder()).prefetch(requests)
            })
    }
}
