import ExecutionContextsTesting
import Foundation
// Re-exported, so that the other files of this target need not import it.
@_exported import TestSupport

extension SimulationFailure {
    /// What the threads did, one thread after the other, without the breaks of its columns.
    var told: String {
        var columns: [Int: [String]] = [:]
        for line in trace {
            for (column, cell) in line.components(separatedBy: " | ").enumerated() {
                let text = cell.trimmingCharacters(in: CharacterSet(charactersIn: " |"))
                if !text.isEmpty { columns[column, default: []].append(text) }
            }
        }
        return columns.sorted { $0.key < $1.key }.map { $0.value.joined(separator: " ") }
            .joined(separator: "\n")
    }
}
