/// A message in the wire format of Protocol Buffers, field by field.
struct ProtobufBytes {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ field: UInt64, _ value: UInt64) {
        add(varint: field << 3)
        add(varint: value)
    }

    /// Adds a signed number. In this format a negative one takes ten bytes.
    mutating func add(_ field: UInt64, signed value: Int64) {
        add(field, UInt64(bitPattern: value))
    }

    /// Adds a number of eight bytes.
    mutating func add(_ field: UInt64, fixed value: UInt64) {
        add(varint: field << 3 | 1)
        for byte in 0..<UInt64(8) { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
    }

    mutating func add(_ field: UInt64, _ text: String) {
        add(varint: field << 3 | 2)
        add(varint: UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Adds a message, whose fields `build` adds.
    mutating func add(_ field: UInt64, _ build: (inout ProtobufBytes) -> Void) {
        var message = ProtobufBytes()
        build(&message)
        add(varint: field << 3 | 2)
        add(varint: UInt64(message.bytes.count))
        bytes.append(contentsOf: message.bytes)
    }

    /// Adds a number as seven bits in each byte, the lowest first.
    private mutating func add(varint value: UInt64) {
        var rest = value
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
