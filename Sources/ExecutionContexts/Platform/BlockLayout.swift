/// The layout of one heap block that holds values of several types, one after the other.
///
/// Every such block takes its offsets and its size from here, so the size that is allocated and the
/// addresses that are written cannot disagree. Padding is the reason: a header of 10 bytes with an
/// alignment of 8 is followed by its first element at 16, not at 10.
package struct BlockLayout {
    /// The size of the block: the end of the last value, not rounded up.
    package private(set) var byteCount = 0
    /// The strictest alignment of the values, or the requested one if it is stricter.
    package private(set) var alignment: Int

    package init(alignment: Int = 1) { self.alignment = alignment }

    /// Reserves room for `count` values and returns the offset of the first one.
    package mutating func append<Value: ~Copyable>(_ type: Value.Type, count: Int = 1) -> Int {
        append(
            byteCount: count * MemoryLayout<Value>.stride, alignment: MemoryLayout<Value>.alignment)
    }

    /// Reserves `byteCount` bytes at a multiple of `alignment` and returns their offset.
    package mutating func append(byteCount: Int, alignment: Int) -> Int {
        let offset = (self.byteCount + alignment - 1) / alignment * alignment
        self.byteCount = offset + byteCount
        self.alignment = max(self.alignment, alignment)
        return offset
    }

    package func allocate() -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: alignment)
    }
}

/// Padding between two fields, which are then on different cache lines.
///
/// A thread that writes a word takes its whole cache line from all other threads.
package struct CacheLinePadding: Sendable {
    private let words: (Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0)

    package init() {}
}
