import ExecutionContextsObservation
import Testing

/// A trace in Perfetto's format, read by a parser of its own.
struct PerfettoFile {
    struct Slice: Hashable {
        let track: String
        let name: String
        let start: Int
        let end: Int
        let facts: [String: Int]
        let flows: [Int]
        let endingFlows: [Int]
    }

    struct Count: Hashable {
        let track: String
        let instant: Int
        let value: Int
    }

    private(set) var slices: [Slice] = []
    private(set) var counts: [Count] = []
    /// The names of the tracks, with those of the tracks above them.
    private(set) var tracks: [UInt64: String] = [:]
    /// What the format forbids; nothing if the trace is valid.
    private(set) var faults: [String] = []
    let size: Int

    private typealias Open = (
        name: String, start: Int, facts: [String: Int], flows: [Int], endingFlows: [Int]
    )
    private var open: [UInt64: [Open]] = [:]
    private var names: [UInt64: String] = [:]
    private var annotations: [UInt64: String] = [:]
    private var now = 0
    private var counters: Set<UInt64> = []

    init(_ recorder: Recorder) throws { try self.init(recorder.tracePerfetto()) }

    init(_ bytes: [UInt8]) throws {
        size = bytes.count
        for (index, packet) in try Message(bytes[...]).messages(1).enumerated() {
            try read(packet, isFirst: index == 0)
        }
        for (track, slices) in open where !slices.isEmpty {
            faults.append("\(slices.count) slices of the track \(track) do not end")
        }
    }

    private mutating func read(_ packet: Message, isFirst: Bool) throws {
        if packet.numbers(10) != [1] { faults.append("a packet without its sequence") }
        if packet.numbers(13) != [isFirst ? 1 : 2] { faults.append("a packet with other flags") }
        if isFirst {
            let clocks = try packet.messages(6).first?.messages(1) ?? []
            if clocks.map({ $0.numbers(1) + $0.numbers(2) + $0.numbers(3) }) != [
                [6, 0], [64, 0, 1],
            ] {
                faults.append("the clocks are others")
            }
            if try packet.messages(59).first?.numbers(58) != [64] {
                faults.append("no clock for what follows")
            }
        }
        now += packet.numbers(8).first.map(Int.init) ?? 0
        for interned in try packet.messages(12) {
            for name in try interned.messages(2) {
                if names.updateValue(try name.text(2), forKey: try name.number(1)) != nil {
                    faults.append("a number has two names")
                }
            }
            for name in try interned.messages(3) {
                annotations[try name.number(1)] = try name.text(2)
            }
        }
        for track in try packet.messages(60) { try read(track: track) }
        for event in try packet.messages(11) { try read(event: event) }
    }

    private mutating func read(track: Message) throws {
        let number = try track.number(1)
        let above = track.numbers(5).first
        if number == 0 || tracks[number] != nil { faults.append("the track \(number) is twice") }
        if let above, tracks[above] == nil { faults.append("no track above \(number)") }
        if try !track.messages(8).isEmpty { counters.insert(number) }
        let name =
            if let process = try track.messages(3).first {
                "\(try process.number(1)) \(try process.text(6))"
            } else if let thread = try track.messages(4).first {
                "\(try thread.number(1)) \(try thread.text(5))"
            } else {
                try track.text(2)
            }
        tracks[number] = name
    }

    private mutating func read(event: Message) throws {
        let number = try event.number(11)
        guard let track = tracks[number] else {
            return faults.append("the track \(number) of an event is not there")
        }
        switch try event.number(9) {
        case 1:
            var facts: [String: Int] = [:]
            for fact in try event.messages(4) {
                facts[try #require(annotations[try fact.number(1)])] = Int(try fact.number(3))
            }
            let name = try #require(names[try event.number(10)], "a slice without a name")
            open[number, default: []].append(
                (name, now, facts, event.numbers(47).map(Int.init), event.numbers(48).map(Int.init))
            )
        case 2:
            guard let last = open[number]?.popLast() else {
                return faults.append("an end without a begin on \(track)")
            }
            slices.append(
                Slice(
                    track: track, name: last.name, start: last.start, end: now, facts: last.facts,
                    flows: last.flows, endingFlows: last.endingFlows))
        case 4:
            if !counters.contains(number) { faults.append("a count on \(track)") }
            let count = Count(
                track: track, instant: now, value: Int(truncatingIfNeeded: try event.number(30)))
            if count.value < 0 { faults.append("\(count.value) jobs wait on \(track)") }
            counts.append(count)
        case let other: faults.append("an event of the type \(other)")
        }
    }
}

/// A message in the wire format of Protocol Buffers.
private struct Message {
    private var fields: [(field: UInt64, number: UInt64, bytes: ArraySlice<UInt8>?)] = []

    init(_ bytes: ArraySlice<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            let key = try Self.varint(&rest)
            switch key & 7 {
            case 0: fields.append((key >> 3, try Self.varint(&rest), nil))
            case 1:
                try #require(rest.count >= 8)
                let number = rest.prefix(8).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
                fields.append((key >> 3, number, nil))
                rest.removeFirst(8)
            case 2:
                let length = Int(try Self.varint(&rest))
                try #require(length <= rest.count)
                fields.append((key >> 3, 0, rest.prefix(length)))
                rest.removeFirst(length)
            case let other: Issue.record("the wire type \(other)")
            }
        }
    }

    private static func varint(_ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
        var (value, shift) = (0 as UInt64, 0 as UInt64)
        while true {
            let first = rest.popFirst()
            let byte = UInt64(try #require(first))
            value |= (byte & 0x7F) << shift
            guard byte & 0x80 != 0 else { return value }
            shift += 7
        }
    }

    func numbers(_ field: UInt64) -> [UInt64] {
        fields.filter { $0.field == field && $0.bytes == nil }.map(\.number)
    }

    func number(_ field: UInt64) throws -> UInt64 { try #require(numbers(field).first) }

    func messages(_ field: UInt64) throws -> [Message] {
        try fields.filter { $0.field == field }.compactMap { try $0.bytes.map(Message.init) }
    }

    func text(_ field: UInt64) throws -> String {
        let bytes = try #require(fields.first { $0.field == field }?.bytes)
        return try #require(String(validating: bytes, as: UTF8.self))
    }
}
