/// The word of a coordinator as a value, and each change of it as a function.
///
/// | bits | name | set while |
/// |---|---|---|
/// | 0 | `exclusive` | a writer, or a thread that runs enqueued writes, is inside |
/// | 1 | `biased` | readers may enter by announcing themselves in a slot of their thread |
/// | 2 | `revoking` | the bias is revoked, and slot readers may still be inside |
/// | 3 | `closed` | callers that arrive join the wait queue |
/// | 4 | `hasWaiters` | the wait queue has a waiter, which is to be woken when it can enter |
/// | 5 | `wakePending` | a waiter was woken and has not looked yet: no other one is woken |
/// | 8-14 | `tally` | counts the counted reads since the last writer |
/// | 32-63 | `reader` | counts the counted readers inside |
///
/// What a caller may do that has no lock and is not inside already:
///
/// | word | slot reader | counted reader | writer |
/// |---|---|---|---|
/// | vacant | counts itself | enters | enters |
/// | counted readers inside | counts itself | enters | waits |
/// | `biased` | enters | enters | revokes the bias, under the lock |
/// | `revoking` | counts itself | enters | scans the reader slots, under the lock |
/// | `exclusive` or `closed` | waits | waits | waits |
@frozen @usableFromInline
struct ReadWriteWord {
    @usableFromInline let bits: UInt64

    @inlinable @inline(__always)
    init(_ bits: UInt64) { self.bits = bits }

    /// The flags of the wait queue; they change only under the lock.
    init(isClosed: Bool, hasWaiters: Bool = false, isWakePending: Bool = false) {
        bits =
            (isClosed ? Self.closed : 0) | (hasWaiters ? Self.hasWaiters : 0)
            | (isWakePending ? Self.wakePending : 0)
    }

    private static var exclusive: UInt64 { 1 << 0 }
    private static var biased: UInt64 { 1 << 1 }
    private static var revoking: UInt64 { 1 << 2 }
    private static var closed: UInt64 { 1 << 3 }
    private static var hasWaiters: UInt64 { 1 << 4 }
    private static var wakePending: UInt64 { 1 << 5 }
    private static var queueFlags: UInt64 { closed | hasWaiters | wakePending }
    private static var tally: UInt64 { 1 << 8 }
    private static var tallyMask: UInt64 { 0x7f << 8 }

    /// What a writer that leaves subtracts: the flag is set, so it is clear then.
    static var oneWriter: UInt64 { exclusive }
    /// What a counted reader that leaves subtracts.
    static var oneReader: UInt64 { 1 << 32 }

    /// Whether a reader may enter by announcement: of bits 0, 1 and 3, only `biased` is set.
    @inlinable @inline(__always)
    var isOpenToSlotReaders: Bool { bits & 0b1011 == 0b0010 }

    @inlinable @inline(__always)
    var isRevoking: Bool { bits & 0b0100 != 0 }

    var isExclusive: Bool { bits & Self.exclusive != 0 }
    var isBiased: Bool { bits & Self.biased != 0 }
    var isClosed: Bool { bits & Self.closed != 0 }
    var hasCountedReaders: Bool { bits >= Self.oneReader }

    /// Whether no reader and no writer is inside, and no reader may enter by announcement.
    var isVacant: Bool {
        bits & (Self.exclusive | Self.biased | Self.revoking) == 0 && !hasCountedReaders
    }

    /// Whether a thread that leaves must admit or wake waiters.
    var mustAdmitNext: Bool {
        isClosed || bits & (Self.hasWaiters | Self.wakePending) == Self.hasWaiters
    }

    func hasQueueFlags(_ flags: ReadWriteWord) -> Bool { bits & Self.queueFlags == flags.bits }
}

/// The changes of the word; nil where one cannot be made. `Admission` makes them atomically.
///
/// | change | made by | if | effect |
/// |---|---|---|---|
/// | `countingReader` | a reader | not `exclusive`, not `closed` | `reader` + 1, `tally` + 1 |
/// | `admittingReader` | the lock owner, for a waiter | not `exclusive` | `reader` + 1 |
/// | `enteringVacant` | a writer | vacant, not `closed` | sets `exclusive`, clears `tally` |
/// | `excluding` | the lock owner | vacant | sets `exclusive`, clears `tally` |
/// | `revokingBias` | the lock owner | always | `biased` becomes `revoking` |
/// | `endingRevocation` | the lock owner, after a scan | always | clears `revoking` |
/// | `publishing` | the lock owner | always | replaces bits 3-5; may clear `exclusive` |
/// | `becomingReader` | the lock owner, inside | always | `exclusive` becomes one `reader` |
/// | minus `oneWriter`, `oneReader` | a caller that leaves | it is inside | one caller fewer |
extension ReadWriteWord {
    /// The bias returns after 128 reads without a writer.
    func countingReader() -> ReadWriteWord? {
        if bits & (Self.exclusive | Self.closed) != 0 { return nil }
        let counted = bits + Self.oneReader
        guard bits & (Self.biased | Self.hasWaiters) == 0 else { return ReadWriteWord(counted) }
        guard bits & Self.tallyMask == Self.tallyMask else {
            return ReadWriteWord(counted + Self.tally)
        }
        return ReadWriteWord(counted & ~(Self.tallyMask | Self.revoking) | Self.biased)
    }

    func admittingReader() -> ReadWriteWord? {
        isExclusive ? nil : ReadWriteWord(bits + Self.oneReader)
    }

    func enteringVacant() -> ReadWriteWord? { isClosed ? nil : excluding() }

    func excluding() -> ReadWriteWord? {
        isVacant ? ReadWriteWord((bits | Self.exclusive) & ~Self.tallyMask) : nil
    }

    func revokingBias() -> ReadWriteWord { ReadWriteWord(bits & ~Self.biased | Self.revoking) }

    func endingRevocation() -> ReadWriteWord { ReadWriteWord(bits & ~Self.revoking) }

    func publishing(_ flags: ReadWriteWord, leavesExclusive: Bool) -> ReadWriteWord {
        let replaced = Self.queueFlags | (leavesExclusive ? Self.exclusive : 0)
        return ReadWriteWord(bits & ~replaced | flags.bits)
    }

    func becomingReader() -> ReadWriteWord {
        ReadWriteWord(bits & ~Self.exclusive + Self.oneReader)
    }
}

/// The slots in which readers announce themselves: a slot has the address of what its thread reads.
///
/// With the lowest bit set, it informs only the thread itself, because that read is counted in the
/// word of what it reads.
@usableFromInline
typealias ReaderSlots = ThreadSlots
