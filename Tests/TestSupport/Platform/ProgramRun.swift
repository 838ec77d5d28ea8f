// On the other systems a program cannot run another program.
#if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
import Foundation
import Testing

/// A program of this package that has run.
package struct ProgramRun {
    package let lines: [String]
    package let exitCode: Int32

    package init(_ name: String, _ arguments: String..., limit: String? = nil) async throws {
        try await self.init(name, arguments, limit: limit)
    }

    /// Runs a program that was built beside the tests, and waits for its end.
    ///
    /// With a limit, which is an option of the shell's `ulimit`, the lines have its errors, too.
    package init(_ name: String, _ arguments: [String], limit: String? = nil) async throws {
        let program = try #require(Self.program(name), "\(name) was not built beside the tests")
        let process = Process()
        let output = Pipe()
        process.standardOutput = output
        if let limit {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            let script = "ulimit \(limit) && exec \"$0\" \"$@\""
            process.arguments = ["-c", script, program.path] + arguments
            process.standardError = output
        } else {
            process.executableURL = program
            process.arguments = arguments
        }
        let (printed, end) = (Box(Data()), DispatchGroup())
        await withTaskCancellationHandler {
            await withCheckedContinuation { done in
                end.enter()
                process.terminationHandler = { _ in end.leave() }
                do {
                    try process.run()
                    // While it runs: it waits where it has printed more than the pipe holds.
                    DispatchQueue(label: "output").async(group: end) {
                        printed.value = output.fileHandleForReading.readDataToEndOfFile()
                    }
                } catch {
                    Issue.record(error)
                    process.terminationHandler = nil
                    end.leave()
                }
                end.notify(queue: .global()) { done.resume() }
            }
        } onCancel: {
            process.terminate()
        }
        let text = String(decoding: printed.value, as: UTF8.self)
        lines = text.split(separator: "\n").map(String.init)
        exitCode = process.terminationStatus
    }

    /// The folder of the built tests, under any build system.
    private static func program(_ name: String) -> URL? {
        let tests = Bundle(for: Marker.self).bundleURL
        let runner = URL(fileURLWithPath: CommandLine.arguments[0])
        return [tests, tests.deletingLastPathComponent(), runner.deletingLastPathComponent()]
            .map { $0.appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// A class of the tests' bundle.
    private final class Marker {}
}
#endif
