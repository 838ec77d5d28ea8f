import ExecutionContexts

/// A least-recently-used cache of images in memory. Any thread may use it.
final class MemoryCache: Sendable {
    private struct Contents {
        var entries: [ImageRequest: (image: Image, use: UInt64)] = [:]
        var cost = 0
        var use: UInt64 = 0
    }

    private let contents = LockedResource(Contents(), lockedBy: .section)
    private let limit: Int

    /// Makes an empty cache for images of `limit` bytes together.
    init(limit: Int) { self.limit = limit }

    /// The cached image. Setting one may evict others. An image beyond the limit is not cached.
    subscript(request: ImageRequest) -> Image? {
        get {
            // A look-up is a write: it makes the image the most recently used one.
            contents.mutate { contents in
                guard let image = contents.entries[request]?.image else { return nil }
                contents.use += 1
                contents.entries[request] = (image, contents.use)
                return image
            }
        }
        set {
            contents.mutate { [limit] contents in
                if let old = contents.entries.removeValue(forKey: request) {
                    contents.cost -= old.image.cost
                }
                guard let newValue, newValue.cost <= limit else { return }
                contents.use += 1
                contents.entries[request] = (newValue, contents.use)
                contents.cost += newValue.cost
                // A linear search suits hundreds of images. Thousands need a list ordered by use.
                while contents.cost > limit {
                    guard let oldest = contents.entries.min(by: { $0.value.use < $1.value.use })
                    else {
                        return
                    }
                    contents.entries[oldest.key] = nil
                    contents.cost -= oldest.value.image.cost
                }
            }
        }
    }

    /// The size of the cached images, in bytes.
    var cost: Int { contents.mutate { $0.cost } }
}
