import ExecutionContexts
import ExecutionContextsWork
import Foundation

/// A cache of images on disk. Images are staged, and written later on a background context.
/// Any thread may use it.
///
/// A reader sees a stored image before it is written, while it is written and afterwards. A file
/// that cannot be read or written is a cache miss, not an error.
final class DiskCache: Sendable {
    private let store: Store
    private let flushSoon: PacedCall<Void>
    private let background: any SerialContext

    init(
        in folder: URL, on background: some SerialContext,
        flushingEvery interval: Duration = .milliseconds(50),
        by write: @escaping @Sendable (_ bytes: [UInt8], _ file: URL) throws -> Void = {
            try Data($0).write(to: $1, options: .atomic)
        }
    ) {
        let store = Store(folder, write)
        self.store = store
        self.background = background
        flushSoon = background.throttled(to: interval, .latest) { store.flush() }
    }

    /// The cached image. A look-up reads the file on the caller, unless the image is still staged.
    subscript(request: ImageRequest) -> Image? {
        get { store.read(request) }
        set {
            guard let newValue else { return }
            store.stage(newValue, for: request)
            flushSoon(())
        }
    }

    /// Writes the staged images. Completes when they are written.
    @discardableResult
    func flush() -> Async<Void> { background.submit { [store] in store.flush() } }

    /// How many images have not been written yet.
    var stagedCount: Int { store.stagedCount }
}

/// The part of a cache that its flushes need.
private final class Store: Sendable {
    private struct Staged {
        var waiting: [ImageRequest: Image] = [:]
        /// The images that the current flush writes.
        var writing: [ImageRequest: Image] = [:]
    }

    private let staged = LockedResource(Staged(), lockedBy: .coordinator)
    private let folder: URL
    private let write: @Sendable ([UInt8], URL) throws -> Void

    init(_ folder: URL, _ write: @escaping @Sendable ([UInt8], URL) throws -> Void) {
        self.folder = folder
        self.write = write
    }

    var stagedCount: Int { staged.read { $0.waiting.count + $0.writing.count } }

    func stage(_ image: Image, for request: ImageRequest) {
        staged.mutate { $0.waiting[request] = image }
    }

    func read(_ request: ImageRequest) -> Image? {
        // A waiting image is newer than one that is being written, which is newer than the file.
        if let image = staged.read({ $0.waiting[request] ?? $0.writing[request] }) { return image }
        let file = file(of: request)
        guard let bytes = try? bytes(ofFile: file.path) else { return nil }
        return try? Image(decoding: bytes, from: file.path)
    }

    /// Writes the waiting images. It runs on the background context, which is serial.
    func flush() {
        let batch = staged.mutate { staged in
            (staged.writing, staged.waiting) = (staged.waiting, [:])
            return staged.writing
        }
        for (request, image) in batch { try? write(image.encoded, file(of: request)) }
        staged.mutate { $0.writing = [:] }
    }

    /// A file name that depends on the request only, so it is the same in each run.
    private func file(of request: ImageRequest) -> URL {
        let hash = request.path.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return folder.appendingPathComponent("\(String(hash, radix: 16))-\(request.width).ppm")
    }
}
