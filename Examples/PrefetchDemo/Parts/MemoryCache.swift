import ExecutionContexts

/// Images in memory, those that were used last, up to a cost; any thread may use it, at once.
final class MemoryCache: Sendable {
    private struct Contents {
        var entries: [ImageRequest: (image: Image, use: UInt64)] = [:]
        var cost = 0
        var use: UInt64 = 0
    }

    private let contents = LockedResource(Contents(), lockedBy: .section)
    private let limit: Int

    /// Makes an empty one that keeps images of so many bytes together.
    init(limit: Int) { self.limit = limit }

    /// The image, if it is there; setting one may push others out, and one that is too big for all is not kept.
    subscript(request: ImageRequest) -> Image? {
        get {
            // A look-up is a write: it makes the image the one that was used last.
            contents.write { contents in
                guard let image = contents.entries[request]?.image else { return nil }
                contents.use += 1
                contents.entries[request] = (image, contents.use)
                return image
            }
        }
        set {
            contents.write { [limit] contents in
                if let old = contents.entries.removeValue(forKey: request) { contents.cost -= old.image.cost }
                guard let newValue, newValue.cost <= limit else { return }
                contents.use += 1
                contents.entries[request] = (newValue, contents.use)
                contents.cost += newValue.cost
                // Looking at all is well for hundreds; a list in the order of use is for thousands.
                while contents.cost > limit {
                    guard let oldest = contents.entries.min(by: { $0.value.use < $1.value.use }) else {
                        return
                    }
                    contents.entries[oldest.key] = nil
                    contents.cost -= oldest.value.image.cost
                }
            }
        }
    }

    /// What it keeps, in bytes.
    var cost: Int { contents.write { $0.cost } }
}
