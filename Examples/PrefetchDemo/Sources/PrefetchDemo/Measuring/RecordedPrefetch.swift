import ExecutionContexts
import ExecutionContextsObservation
import Pages

/// A recorded prefetch of images that are in no cache.
struct RecordedPrefetch {
    let arrangement: Arrangement
    let recorder = Recorder()
    /// How long the jobs ran that look up, read, decode and resize images.
    let ofImages: Duration
    /// How long the jobs of the components' contexts ran.
    let ofContexts: Duration

    init(_ arrangement: Arrangement, of pictures: PictureFolder) throws {
        self.arrangement = arrangement
        let requests = pictures.paths.map { ImageRequest(path: $0, width: 48) }
        let stack = Stack(arrangement, cacheIn: try pictures.cacheFolder(), recordedBy: recorder)
        _ = stack.prefetch(requests)
        let jobs = recorder.jobs
        let contexts = jobs.filter { ![Stack.imageWork, Stack.diskWrites].contains($0.context) }
        ofContexts = contexts.compactMap(\.ran).reduce(.zero, +)
        ofImages = jobs.filter { $0.context == Stack.imageWork }.compactMap(\.ran)
            .reduce(.zero, +)
    }

    /// The share of the images in both, from 0 to 1. Writes to the disk cache do not count.
    var share: Double { ofImages / (ofImages + ofContexts) }

    var line: String {
        "\(arrangement.name): the images take \(ofImages.short), the contexts \(ofContexts.short); "
            + "the images' share is \(Int((share * 100).rounded())) %"
    }

    /// Writes the timeline as a page for a browser, and returns its path.
    func writeTimeline(of example: String = "prefetch-demo") throws -> String {
        let contexts = arrangement == .apart ? "private contexts" : "one shared context"
        let name = contexts.split(separator: " ").joined(separator: "-")
        let path = try pagePath("\(name).html", of: example)
        try recorder.writeTimeline(to: path, title: "A prefetch with \(contexts)")
        return path
    }
}
