/// The cache lines of a machine, and which processors have a copy of each.
///
/// | access | the line stays | else it moves, and is counted |
/// | --- | --- | --- |
/// | read | this processor has a copy | the processor gets one |
/// | write | this processor has the only copy | the processor gets the only one |
///
/// The first access to a line comes from memory, and is not counted.
struct CacheLines {
    static let size = 64

    final class Line {
        let name: String
        /// Which processors have a copy.
        fileprivate var holders: Set<Int> = []
        /// When the line can move again: it moves to one processor at a time.
        fileprivate var freeAt: Int64 = 0
        fileprivate(set) var transfers = 0
        fileprivate(set) var sites: [Site: Int] = [:]
        init(_ name: String) { self.name = name }

        /// Whether a processor can access the line without another one.
        func stays(for access: Access, at processor: Int) -> Bool {
            access == .read ? holders.contains(processor) : holders == [processor]
        }

        /// Accesses the line and returns when the access is done.
        func access(_ access: Access, by processor: Int, at time: Int64, _ site: Site) -> Int64 {
            if stays(for: access, at: processor) { return time + Cost.hit }
            let isFirst = holders.isEmpty
            if access == .write { holders = [] }
            holders.insert(processor)
            if isFirst { return time + Cost.transfer }
            transfers += 1
            sites[site, default: 0] += 1
            freeAt = max(freeAt, time) + Cost.transfer
            return freeAt
        }

        /// The place in the sources for which the line moved most.
        var hottest: (site: Site, count: Int)? {
            sites.map { ($0.key, $0.value) }.max {
                ($0.1, $1.0.description) < ($1.1, $0.0.description)
            }
        }
    }

    private struct Object {
        let start: UInt
        let end: UInt
        let name: String
    }

    private var byAddress: [UInt: Line] = [:]
    private var byStart: [UInt: Line] = [:]
    private var objects: [Object] = []

    var all: [Line] { Array(byStart.values) }

    /// Counts from zero; the copies stay where they are.
    mutating func beginCount() {
        for line in byStart.values { (line.transfers, line.sites) = (0, [:]) }
    }

    /// Names what is at these addresses. Its lines are counted from its start, wherever the
    /// allocator has put it.
    mutating func name(_ start: UInt, byteCount: Int, _ name: String) {
        objects.removeAll { $0.start < start + UInt(byteCount) && start < $0.end }
        objects.append(Object(start: start, end: start + UInt(byteCount), name: name))
        for address in byAddress.keys where start <= address && address < start + UInt(byteCount) {
            byAddress[address] = nil
            byStart[address] = nil
        }
    }

    func isKnown(_ address: UInt) -> Bool { byAddress[address] != nil }

    /// Whether a named object has this address.
    func hasName(_ address: UInt) -> Bool {
        objects.contains { $0.start <= address && address < $0.end }
    }

    mutating func line(of address: UInt) -> Line {
        if let known = byAddress[address] { return known }
        let object = objects.first { $0.start <= address && address < $0.end }
        let base = object?.start ?? 0
        let index = (address - base) / UInt(Self.size)
        let start = base + index * UInt(Self.size)
        let line = byStart[start] ?? Line(object.map { "\($0.name), line \(index)" } ?? "other")
        byStart[start] = line
        byAddress[address] = line
        return line
    }
}

/// What steps take, in nanoseconds, on a large machine. They decide which thread comes first, and
/// nothing is reported in them.
enum Cost {
    static let hit: Int64 = 1
    static let transfer: Int64 = 60
    static let relax: Int64 = 40
    static let fence: Int64 = 10
    static let barrier: Int64 = 2_000
    static let systemCall: Int64 = 300
    /// A system call that wakes or starts a thread, and the time until that thread runs.
    static let wake: Int64 = 1_000
    static let wakeLatency: Int64 = 3_000
}
