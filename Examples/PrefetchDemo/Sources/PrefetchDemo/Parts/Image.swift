/// A picture: three bytes for each pixel, row by row.
struct Image: Hashable, Sendable {
    let width: Int
    let height: Int
    let pixels: [UInt8]

    /// The size in memory, in bytes.
    var cost: Int { pixels.count }

    /// A picture whose content depends on its number.
    init(width: Int, height: Int, number: Int) {
        self.width = width
        self.height = height
        pixels = (0..<(width * height)).flatMap { index -> [UInt8] in
            let (x, y) = (index % width, index / width)
            return [x &* 3 &+ number, y &* 5 &+ number, (x ^ y) &+ number].map {
                UInt8(truncatingIfNeeded: $0)
            }
        }
    }

    private init(width: Int, height: Int, pixels: [UInt8]) {
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// The picture at a smaller width, in proportion. A new pixel is the mean of those it covers.
    func resized(toWidth newWidth: Int) -> Image {
        guard newWidth > 0, newWidth < width else { return self }
        let newHeight = max(1, height * newWidth / width)
        var result: [UInt8] = []
        result.reserveCapacity(newWidth * newHeight * 3)
        for row in 0..<newHeight {
            let rows = (row * height / newHeight)..<((row + 1) * height / newHeight)
            for column in 0..<newWidth {
                let columns = (column * width / newWidth)..<((column + 1) * width / newWidth)
                let (red, green, blue) = sum(rows, columns)
                let count = rows.count * columns.count
                result.append(UInt8(red / count))
                result.append(UInt8(green / count))
                result.append(UInt8(blue / count))
            }
        }
        return Image(width: newWidth, height: newHeight, pixels: result)
    }

    private func sum(_ rows: Range<Int>, _ columns: Range<Int>) -> (red: Int, green: Int, blue: Int)
    {
        var (red, green, blue) = (0, 0, 0)
        for row in rows {
            var index = (row * width + columns.lowerBound) * 3
            for _ in columns {
                red += Int(pixels[index])
                green += Int(pixels[index + 1])
                blue += Int(pixels[index + 2])
                index += 3
            }
        }
        return (red, green, blue)
    }
}

// MARK: - As a file

extension Image {
    /// The picture as a binary portable pixmap.
    var encoded: [UInt8] { Array("P6\n\(width) \(height)\n255\n".utf8) + pixels }

    /// Decodes a binary portable pixmap. Errors name the file at `path`.
    init(decoding bytes: [UInt8], from path: String) throws {
        var offset = 0
        func word() -> String {
            let isSpace = { (byte: UInt8) in
                byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
            }
            while offset < bytes.count, isSpace(bytes[offset]) { offset += 1 }
            let start = offset
            while offset < bytes.count, !isSpace(bytes[offset]) { offset += 1 }
            return String(decoding: bytes[start..<offset], as: UTF8.self)
        }
        guard word() == "P6" else {
            throw ImageError.broken(path, "it is no binary portable pixmap")
        }
        guard let width = Int(word()), let height = Int(word()), (1...10_000).contains(width),
            (1...10_000).contains(height)
        else { throw ImageError.broken(path, "its size is none") }
        guard word() == "255" else {
            throw ImageError.broken(path, "its colours are not of one byte each")
        }
        // One space ends the header.
        offset += 1
        let needed = width * height * 3
        guard bytes.count - offset >= needed else {
            throw ImageError.broken(
                path, "it has \(max(0, bytes.count - offset)) of \(needed) bytes")
        }
        self.init(width: width, height: height, pixels: Array(bytes[offset..<(offset + needed)]))
    }
}

/// Why there is no image.
enum ImageError: Error, Hashable, CustomStringConvertible {
    case missing(String)
    case broken(String, String)

    var description: String {
        switch self {
        case .missing(let path): "There is no file '\(path)', or it cannot be read."
        case .broken(let path, let why): "The file '\(path)' cannot be decoded: \(why)."
        }
    }
}

/// A request for an image: a file, and the width to show it at.
struct ImageRequest: Hashable, Sendable, CustomStringConvertible {
    let path: String
    let width: Int

    var description: String { "\(path) at \(width)" }
}
