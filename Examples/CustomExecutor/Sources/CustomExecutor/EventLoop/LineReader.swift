import ExecutionContexts
import Foundation

/// An actor on an event loop that reads lines from a file descriptor.
///
/// The loop calls it directly when the descriptor is readable. There the state of the actor can be
/// used without an `await` and without another job.
actor LineReader {
    // Also the executor. Retained here, because the runtime retains no executor.
    private let loop: EventLoop
    private let input: FileHandle
    private var bytes = Data()
    private var hasEnded = false
    private var waiters: [CheckedContinuation<[String], Never>] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    init(_ input: FileHandle, on loop: EventLoop) {
        self.input = input
        self.loop = loop
    }

    /// Begins to read. The loop keeps the reader alive until the end of the input.
    func start() {
        loop.watch(input.fileDescriptor) { self.assumeIsolated { $0.readSome() } }
    }

    /// The lines, after the end of the input.
    func lines() async -> [String] {
        if hasEnded { return allLines }
        return await withCheckedContinuation { waiters.append($0) }
    }

    private func readSome() {
        // The loop has found the descriptor readable, so this does not block.
        let data = input.availableData
        if !data.isEmpty { return bytes += data }
        hasEnded = true
        loop.stopWatching(input.fileDescriptor)
        for waiter in waiters { waiter.resume(returning: allLines) }
        waiters = []
    }

    private var allLines: [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
