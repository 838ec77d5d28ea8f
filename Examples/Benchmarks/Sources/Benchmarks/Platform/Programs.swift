import Foundation

#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
/// The output of a program: nil on this platform, where a program cannot run others.
func output(of command: [String]) -> String? { nil }

/// Whether this program can run itself again: not on this platform.
let canRunItself = false

/// Runs this program with other arguments; nil, since it cannot.
func runItself(_ arguments: [String]) -> Int32? { nil }
#else
/// The output of a program on the path, or nil if the program cannot be run.
func output(of command: [String]) -> String? {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
}

/// Whether this program can run itself again.
let canRunItself = Bundle.main.executableURL != nil

/// Runs this program with other arguments, to its end, and returns its status; nil if it cannot be
/// started, or if a signal ends it.
///
/// Its output is this process's. Its input ends when this process ends, and it then ends, too.
func runItself(_ arguments: [String]) -> Int32? {
    let (process, input) = (Process(), Pipe())
    process.executableURL = Bundle.main.executableURL
    process.arguments = arguments
    process.standardInput = input
    guard (try? process.run()) != nil else { return nil }
    process.waitUntilExit()
    withExtendedLifetime(input) {}
    return process.terminationReason == .exit ? process.terminationStatus : nil
}
#endif
