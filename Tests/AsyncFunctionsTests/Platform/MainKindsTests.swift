// On the other systems a program cannot run another program.
#if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
import AsyncFunctions
import Foundation
import TestSupport
import Testing

/// Law 4: which thread is main in each kind of program.
///
/// Each kind is a process of its own. The documentation has these expectations as a table.
@Suite(.patient)
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

    @Test func `Law 4: in an async main program, main changes its thread at the first suspension`()
        async throws
    {
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

    @Test func `Law 4: Swift Testing has the same main thread as an async main program`() async {
        let isMainThread = await withCheckedContinuation { done in
            mainThread { done.resume(returning: Thread.isMainThread) }
        }
        #expect((isMainThread ? "the main thread" : "another thread") == servesAsyncMain)
    }

    @Test func `While the main thread is blocked no job runs on main`() async throws {
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
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        lines = text.split(separator: "\n").map(String.init)
        exitCode = process.terminationStatus
    }

    /// The folder of the built tests, under any build system.
    private static func program(_ name: String) -> URL? {
        let tests = Bundle(for: MainRunLoopTests.self).bundleURL
        let runner = URL(fileURLWithPath: CommandLine.arguments[0])
        return [tests, tests.deletingLastPathComponent(), runner.deletingLastPathComponent()]
            .map { $0.appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
#endif
