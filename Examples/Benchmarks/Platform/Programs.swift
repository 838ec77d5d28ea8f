import Foundation

#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
/// What a program prints; nil here, where a program cannot run others.
func output(of command: [String]) -> String? { nil }
#else
/// What a program on the path prints; nil if it cannot be run.
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
