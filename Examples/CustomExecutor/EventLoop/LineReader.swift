import ExecutionContexts
import Foundation

/// Reads lines from a file descriptor; an actor that lives on an event loop.
///
/// The loop calls it about the descriptor in the middle of its own work, where the actor's state is at hand: no
/// `await`, and no turn of the loop in between.
actor LineReader {
    private let loop: EventLoop
    private let input: FileHandle
    // Kept here, since the runtime does not.
    private let executor: any SerialExecutor
    private var bytes = Data()
    private var hasEnded = false
    private var waiting: [CheckedContinuation<[String], Never>] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ input: FileHandle, on loop: EventLoop) {
        self.input = input
        self.loop = loop
        executor = loop.serialExecutor
    }

    /// Begins to read. The loop holds the reader until the end of the input.
    func start() {
        loop.watch(input.fileDescriptor) { self.assumeIsolated { $0.readSome() } }
    }

    /// The lines, when the input has come to its end.
    func lines() async -> [String] {
        if hasEnded { return allLines }
        return await withCheckedContinuation { waiting.append($0) }
    }

    private func readSome() {
        // The loop says that something is there, so this does not wait.
        let data = input.availableData
        if !data.isEmpty { return bytes += data }
        hasEnded = true
        loop.stopWatching(input.fileDescriptor)
        for caller in waiting { caller.resume(returning: allLines) }
        waiting = []
    }

    private var allLines: [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
