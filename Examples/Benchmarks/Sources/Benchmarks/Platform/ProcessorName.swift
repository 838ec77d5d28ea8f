import Foundation

/// The system and the architecture, without their versions.
let systemName: String = {
    #if os(Linux)
    let system = "Linux"
    #elseif os(macOS)
    let system = "macOS"
    #else
    let system = "another system"
    #endif
    #if arch(x86_64)
    return "\(system) x86_64"
    #elseif arch(arm64)
    return "\(system) arm64"
    #else
    return system
    #endif
}()

/// The model of the processor as the system names it, or nil if the system does not say.
func processorName() -> String? {
    #if os(Linux)
    (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)).flatMap(processorName(in:))
    #else
    output(of: ["sysctl", "-n", "machdep.cpu.brand_string"])?
        .trimmingCharacters(in: .whitespacesAndNewlines)
    #endif
}

/// Parses the model from the text of `/proc/cpuinfo`.
func processorName(in text: String) -> String? {
    let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
    let name = line?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).last
        .map { $0.trimmingCharacters(in: .whitespaces) }
    return name?.isEmpty == false ? name : nil
}
