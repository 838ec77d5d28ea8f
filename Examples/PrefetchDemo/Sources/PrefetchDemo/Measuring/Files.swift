import Foundation

/// A temporary folder with pictures. It is removed when this object is released.
final class PictureFolder: Sendable {
    let folder: URL
    /// The paths of the pictures.
    let paths: [String]

    init(count: Int, width: Int = 96, height: Int = 72) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "PrefetchDemo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var paths: [String] = []
        for number in 0..<count {
            let file = folder.appendingPathComponent("\(number).ppm")
            try Data(Image(width: width, height: height, number: number).encoded).write(to: file)
            paths.append(file.path)
        }
        self.paths = paths
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Makes an empty folder in it, for a cache.
    func cacheFolder() throws -> URL {
        let cache = folder.appendingPathComponent("cache-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: cache, withIntermediateDirectories: true)
        return cache
    }
}
