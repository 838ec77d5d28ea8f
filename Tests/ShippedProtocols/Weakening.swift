import Foundation
internal import Synchronization

/// A place in the sources with an atomic operation.
struct Site: Hashable, CustomStringConvertible {
    enum Operation: Hashable { case load, store, update, failure }
    /// The text of the file's name, which a literal has at one place.
    private let name: UInt
    private let length: Int
    let line: UInt
    let operation: Operation

    init(_ fileID: StaticString, _ line: UInt, _ operation: Operation) {
        name = UInt(bitPattern: unsafe fileID.utf8Start)
        length = fileID.utf8CodeUnitCount
        (self.line, self.operation) = (line, operation)
    }

    var file: String {
        let start = unsafe UnsafePointer<UInt8>(bitPattern: name).unsafelyUnwrapped
        let text = unsafe String(
            decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
        return String(text.split(separator: "/").last ?? "")
    }

    var description: String { "\(operation) at \(file):\(line)" }

    func order(_ order: AtomicLoadOrdering) -> AtomicLoadOrdering {
        switch order {
        case .sequentiallyConsistent: weakens(to: ["acquiring"]) == nil ? order : .acquiring
        case .acquiring: weakens(to: ["relaxed"]) == nil ? order : .relaxed
        default: order
        }
    }

    func order(_ order: AtomicStoreOrdering) -> AtomicStoreOrdering {
        switch order {
        case .sequentiallyConsistent: weakens(to: ["releasing"]) == nil ? order : .releasing
        case .releasing: weakens(to: ["relaxed"]) == nil ? order : .relaxed
        default: order
        }
    }

    func order(_ order: AtomicUpdateOrdering) -> AtomicUpdateOrdering {
        switch order {
        case .sequentiallyConsistent:
            return weakens(to: ["both"]) == nil ? order : .acquiringAndReleasing
        case .acquiringAndReleasing:
            switch weakens(to: ["acquiring", "releasing"]) {
            case "acquiring": return .acquiring
            case "releasing": return .releasing
            default: return order
            }
        case .acquiring, .releasing: return weakens(to: ["relaxed"]) == nil ? order : .relaxed
        default: return order
        }
    }

    /// The order that the operation has instead of its own; notes what it could be.
    private func weakens(to orders: [String]) -> String? {
        if World.notes {
            for order in orders { World.weakenings.insert(Weakening(site: self, order: order)) }
        }
        guard let present = World.weakening, present.site == self else { return nil }
        return orders.first { $0 == present.order }
    }
}

/// One operation with a weaker order.
struct Weakening: Hashable, CustomStringConvertible {
    let site: Site
    let order: String
    var description: String { "\(site) as \(order)" }
}

extension Site {
    /// The line in its source.
    var text: String {
        get throws {
            let folder = URL(filePath: #filePath).deletingLastPathComponent()
            let source = try String(
                contentsOf: folder.appending(path: "Shipped/\(file)"), encoding: .utf8)
            let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
            return lines[Int(line) - 1].trimmingCharacters(in: .whitespaces)
        }
    }
}
