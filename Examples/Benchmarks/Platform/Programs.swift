import Foundation

#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
/// The output of a program: nil on this platform, where a program cannot run others.
func output(of command: [String]) -> String? { nil }
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
#endif
