import ExecutionContexts
import TestSupport
import Testing

/// Checks the layout of heap blocks with several values against the rules that make a block safe.
struct BlockLayoutTests {
    @Test(arguments: 1...64)
    func `Every value of a block is aligned, inside the block and apart from its neighbours`(
        _ seed: UInt64
    ) {
        var rng = SeededRNG(seed: seed)
        let minimum = 1 << Int.random(in: 0...7, using: &rng)
        var layout = BlockLayout(alignment: minimum)
        var end = 0
        for _ in 0..<Int.random(in: 1...12, using: &rng) {
            let count = Int.random(in: 0...40, using: &rng)
            let (offset, stride, alignment) = append(to: &layout, count, using: &rng)
            #expect(offset % alignment == 0)
            #expect(layout.alignment.isMultiple(of: alignment))
            #expect(offset >= end, "it overlaps the value before it")
            end = offset + count * stride
            #expect(layout.byteCount == end, "the block ends before its last value, or after it")
        }
        #expect(layout.alignment >= minimum)
    }

    /// The header has 10 bytes, like that of a queue's segment, so the slots begin at 16.
    @Test
    func `Padding behind a header is part of the block`() {
        struct Header {
            var next: UInt?
            var capacity: UInt16
        }
        var layout = BlockLayout()
        #expect(layout.append(Header.self) == 0)
        let slots = layout.append(Work.self, count: 14)
        #expect(slots == 16)
        #expect(layout.byteCount == 16 + 14 * MemoryLayout<Work>.stride)
    }

    private func append(
        to layout: inout BlockLayout, _ count: Int, using rng: inout SeededRNG
    ) -> (offset: Int, stride: Int, alignment: Int) {
        func of<Value>(_ type: Value.Type) -> (Int, Int, Int) {
            (
                layout.append(type, count: count), MemoryLayout<Value>.stride,
                MemoryLayout<Value>.alignment
            )
        }
        return switch Int.random(in: 0..<6, using: &rng) {
        case 0: of(UInt8.self)
        case 1: of(UInt16.self)
        case 2: of((UInt64, UInt16).self)
        case 3: of((UInt8, Bool, Bool).self)
        case 4: of(SIMD4<Double>.self)
        default: of(Work.self)
        }
    }
}
