import Foundation

/// Replaces the text between pairs of markers in a page. The rest of the page is written by hand.
enum Markers {
    struct Block: Equatable {
        var name: String
        /// The heading for the block if the page does not have its markers yet.
        var title: String
        var text: String
    }

    struct Fault: Error, Equatable, CustomStringConvertible {
        var description: String
    }

    static func begin(_ name: String) -> String { "<!-- table \(name) -->" }
    static let end = "<!-- end -->"

    /// Returns the page with the text of each block between its markers.
    ///
    /// A block without markers is appended to the page under its own heading.
    static func filled(_ page: String, with blocks: [Block]) throws -> String {
        var lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for block in blocks {
            let begin = begin(block.name)
            let text =
                [begin]
                + block.text.split(separator: "\n", omittingEmptySubsequences: false).map(
                    String.init)
            let places = lines.indices.filter { lines[$0] == begin }
            guard let place = places.first else {
                while lines.last == "" { lines.removeLast() }
                lines += ["", "## \(block.title)", ""] + text + [end, ""]
                continue
            }
            guard places.count == 1 else {
                throw Fault(
                    description: "The page has '\(begin)' \(places.count) times. Leave one of them."
                )
            }
            let rest = lines[(place + 1)...]
            guard let close = rest.firstIndex(of: end),
                !lines[(place + 1)..<close].contains(where: { $0.hasPrefix("<!-- table ") })
            else {
                throw Fault(
                    description:
                        "In the page '\(begin)' is not followed by '\(end)'. Put one where the table ends."
                )
            }
            lines.replaceSubrange(place..<close, with: text)
        }
        return lines.joined(separator: "\n")
    }
}
