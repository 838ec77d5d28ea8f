internal import Foundation

/// The processors that the program may use.
enum Processors {
    static let count = ProcessInfo.processInfo.activeProcessorCount
}
