import Foundation

/// A small picture in shades of grey.
struct Picture: Hashable, Sendable {
    let width: Int
    let height: Int
    /// From 0 for black to 255 for white, row by row.
    let shades: [UInt8]

    /// Makes a picture from one shade for each point.
    init(width: Int, height: Int, shade: (_ column: Int, _ row: Int) -> UInt8) {
        self.width = width
        self.height = height
        shades = (0..<height).flatMap { row in (0..<width).map { column in shade(column, row) } }
    }

    /// Decodes a picture in the format of a binary portable grey map (PGM).
    init(pgm data: Data) throws(BirdError) {
        // The header has four words, each with one blank after it. The shades follow.
        let parts = data.split(maxSplits: 4, omittingEmptySubsequences: false) {
            $0 == 0x20 || $0 == 0x0A
        }
        let words = parts.prefix(4).map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 5, words[0] == "P5", words[3] == "255", let width = Int(words[1]),
            let height = Int(words[2]), (1...1_000).contains(width), (1...1_000).contains(height),
            parts[4].count == width * height
        else { throw .unreadable("a picture") }
        self.width = width
        self.height = height
        shades = Array(parts[4])
    }

    /// The picture as a portable grey map.
    var pgm: Data { Data("P5 \(width) \(height) 255\n".utf8) + Data(shades) }

    /// The picture for a terminal, one line for each row.
    var lines: [String] {
        let ink = Array(" .:+*#")
        return (0..<height).map { row in
            String(shades[row * width..<(row + 1) * width].map { ink[Int($0) * ink.count / 256] })
        }
    }
}
