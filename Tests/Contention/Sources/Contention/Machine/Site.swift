/// A place in the sources that accesses memory.
public struct Site: Hashable, CustomStringConvertible, Sendable {
    /// The text of the file's name, which a literal has at one place.
    private let name: UInt
    private let length: Int
    private let line: UInt

    init(fileID: StaticString, line: UInt) {
        name = UInt(bitPattern: unsafe fileID.utf8Start)
        length = fileID.utf8CodeUnitCount
        self.line = line
    }

    /// The cells of a ring, which have no operation of an atomic.
    static let ring = Site(fileID: "cells of a ring", line: 0)
    /// A value behind a lock, beyond the cache line of the lock.
    static let guarded = Site(fileID: "a value behind a lock", line: 0)

    public var description: String {
        let start = unsafe UnsafePointer<UInt8>(bitPattern: name).unsafelyUnwrapped
        let text = unsafe String(
            decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
        let file = text.split(separator: "/").last ?? ""
        return line == 0 ? String(file) : "\(file):\(line)"
    }
}

enum Access { case read, write }
