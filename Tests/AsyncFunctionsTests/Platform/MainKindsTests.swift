// Elsewhere a program cannot run others.
#if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
import AsyncFunctions
import Foundation
import Testing

/// Law 4: what main is in each kind of program. Each kind is a process of its own; the expectations here are the table
/// in the documentation.
@Suite(.timeLimit(.minutes(30)))
struct MainKindsTests {
    @Test func `Law 4: under a run loop main is the main thread`() async throws {
        let run = try await Run("MainKinds", "run-loop")
        #expect(
            run.lines == [
                "the start: the main thread",
                "from the main thread: the main thread",
                "from another thread: the main thread",
                "delayed: the main thread",
            ])
        #expect(run.exitCode == 0)
    }

    @Test func `Law 4: under dispatchMain other threads are main`() async throws {
        let run = try await Run("MainKinds", "dispatch-main")
        #expect(
            run.lines == [
                "the start: the main thread",
                "from the main thread: another thread",
                "from another thread: another thread",
                "delayed: another thread",
            ])
        #expect(run.exitCode == 0)
    }

    @Test func `Law 4: in an async main, main changes its thread at the first suspension`() async throws {
        let run = try await Run("AsyncMain")
        #expect(
            run.lines == [
                "the start: the main thread",
                "nothing ran before the first suspension",
                "from the main thread: \(servesAsyncMain)",
                "from another thread: \(servesAsyncMain)",
                "main after its first suspension: \(servesAsyncMain)",
                "delayed: \(servesAsyncMain)",
            ])
        #expect(run.exitCode == 0)
    }

    @Test func `Law 4: in Swift Testing main is what it is in an async main`() async {
        let isMainThread = await withCheckedContinuation { done in
            mainThread { done.resume(returning: Thread.isMainThread) }
        }
        #expect((isMainThread ? "the main thread" : "another thread") == servesAsyncMain)
    }

    @Test func `While the main thread waits nothing runs on main`() async throws {
        let run = try await Run("MainKinds", "waiting")
        #expect(run.lines == ["the start: the main thread", "nothing ran"])
        #expect(run.exitCode == 0)
    }
}

/// A program of this package that has run.
private struct Run {
    let lines: [String]
    let exitCode: Int32

    /// Runs a program that was built beside the tests, and waits for its end.
    init(_ name: String, _ arguments: String...) async throws {
        let program = try #require(Self.program(name), "\(name) was not built beside the tests")
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        await withTaskCancellationHandler {
            await withCheckedContinuation { done in
                process.terminationHandler = { _ in done.resume() }
                do { try process.run() } catch {
                    Issue.record(error)
                    process.terminationHandler = nil
                    done.resume()
                }
            }
        } onCancel: {
            process.terminate()
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        lines = text.split(separator: "\n").map(String.init)
        exitCode = process.terminationStatus
    }

    /// Where the tests were built to, under whatever build system.
    private static func program(_ name: String) -> URL? {
        let tests = Bundle(for: MainRunLoopTests.self).bundleURL
        let runner = URL(fileURLWithPath: CommandLine.arguments[0])
        return [tests, tests.deletingLastPathComponent(), runner.deletingLastPathComponent()]
            .map { $0.appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
#endif
