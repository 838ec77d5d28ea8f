import ExecutionContexts
import ExecutionContextsWork
import Foundation

/// Images on disk: collected, and written some time later on a background context; any thread may use it.
///
/// Who reads sees what was stored, before it is written, while it is being written and afterwards. A file
/// that cannot be read or written is an image less: it is a cache.
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

    /// The image, if it is there. Reads its file on the caller, unless it has not been written yet.
    subscript(request: ImageRequest) -> Image? {
        get { store.read(request) }
        set {
            guard let newValue else { return }
            store.stage(newValue, for: request)
            flushSoon(())
        }
    }

    /// Writes what is staged, and ends when it is written.
    @discardableResult
    func flush() -> Async<Void> { background.submit { [store] in store.flush() } }

    /// How many images have not been written yet.
    var stagedCount: Int { store.stagedCount }
}

/// What the flushes of a cache need.
private final class Store: Sendable {
    private struct Staged {
        var waiting: [ImageRequest: Image] = [:]
        /// What the flush under way writes.
        var leaving: [ImageRequest: Image] = [:]
    }

    private let staged = LockedResource(Staged(), lockedBy: .coordinator)
    private let folder: URL
    private let write: @Sendable ([UInt8], URL) throws -> Void

    init(_ folder: URL, _ write: @escaping @Sendable ([UInt8], URL) throws -> Void) {
        self.folder = folder
        self.write = write
    }

    var stagedCount: Int { staged.read { $0.waiting.count + $0.leaving.count } }

    func stage(_ image: Image, for request: ImageRequest) { staged.write { $0.waiting[request] = image } }

    func read(_ request: ImageRequest) -> Image? {
        // What waits is newer than what is being written, and that is newer than the file.
        if let image = staged.read({ $0.waiting[request] ?? $0.leaving[request] }) { return image }
        let file = file(of: request)
        guard let bytes = try? bytes(ofFile: file.path) else { return nil }
        return try? Image(decoding: bytes, from: file.path)
    }

    /// Writes what waits, on the background context, which takes one flush at a time.
    func flush() {
        let batch = staged.write { staged in
            (staged.leaving, staged.waiting) = (staged.waiting, [:])
            return staged.leaving
        }
        for (request, image) in batch { try? write(image.encoded, file(of: request)) }
        staged.write { $0.leaving = [:] }
    }

    /// A name that follows from the request, in each run of the program.
    private func file(of request: ImageRequest) -> URL {
        let hash = request.path.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return folder.appendingPathComponent("\(String(hash, radix: 16))-\(request.width).ppm")
    }
}
