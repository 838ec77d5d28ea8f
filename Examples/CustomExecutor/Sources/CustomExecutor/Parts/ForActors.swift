import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// Shows a serial executor, and an actor that runs on it.
func showForActors(_ report: inout Report) async throws {
    report.begin("For actors: an event loop that watches file descriptors")
    let loop = EventLoop(name: "loop")
    report.expect("breaches that the law kit found", await Laws.check(loop).count, toBe: 0)

    let pipe = Pipe()
    let reader = LineReader(pipe.fileHandleForReading, on: loop)
    await reader.start()
    // Another thread writes. The loop calls the actor, which reads without blocking.
    ThreadPerJob().execute {
        for bird in ["wren\n", "rob", "in\n", "dipper\n"] {
            pipe.fileHandleForWriting.write(Data(bird.utf8))
        }
        try? pipe.fileHandleForWriting.close()
    }
    report.expect(
        "lines that its actor read", await reader.lines(), toBe: ["wren", "robin", "dipper"])
    let isIsolated = try await loop.run { reader.assumeIsolated { _ in true } }
    report.expect("the actor's state, from a closure on the loop", isIsolated, toBe: true)
    let delayed = await withCheckedContinuation { done in
        loop.schedule(after: .milliseconds(5)) { done.resume(returning: loop.isCurrent) }
    }
    report.expect("a delay, which the library adds, ends on the loop", delayed, toBe: true)
}
