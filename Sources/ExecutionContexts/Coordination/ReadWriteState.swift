/// The state word of a coordinator: flags, a tally of counted reads, and the counted readers
/// inside.
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
@usableFromInline
enum ReadWriteState {
    /// A writer, or a thread that runs the enqueued writes, is inside.
    @usableFromInline static var exclusive: UInt64 { 1 << 0 }
    /// A reader may enter by announcing itself in a slot, in a cache line that only its thread
    /// writes.
    @usableFromInline static var biased: UInt64 { 1 << 1 }
    /// The bias is revoked, and readers that entered by announcement may still be inside.
    @usableFromInline static var revoking: UInt64 { 1 << 2 }
    /// Callers that arrive join the wait queue: jobs are enqueued, or the first waiter starves.
    @usableFromInline static var closed: UInt64 { 1 << 3 }
    /// A waiter is queued, and is to be woken when it can enter.
    @usableFromInline static var hasWaiters: UInt64 { 1 << 4 }
    /// A waiter was woken and has not looked yet: no other waiter needs a wake-up.
    @usableFromInline static var wakePending: UInt64 { 1 << 5 }

    /// The flags that change only under the lock of the queues.
    static var queueFlags: UInt64 { closed | hasWaiters | wakePending }

    /// One counted read, for the tally that restores the bias.
    static var tally: UInt64 { 1 << 8 }
    static var tallyMask: UInt64 { 0x7f << 8 }
    /// One counted reader inside.
    static var reader: UInt64 { 1 << 32 }

    static func readers(_ state: UInt64) -> UInt64 { state >> 32 }

    /// The flags that decide on a slot reader: it may enter if only `biased` is set among them.
    @usableFromInline static var admission: UInt64 { exclusive | biased | closed }

    /// Whether a thread that leaves must admit or wake waiters.
    static func mustAdmitNext(_ state: UInt64) -> Bool {
        state & closed != 0 || state & (hasWaiters | wakePending) == hasWaiters
    }

    /// The word with one more counted reader; the bias returns after 128 reads without a writer.
    static func counting(_ state: UInt64) -> UInt64 {
        let counted = state + reader
        guard state & (biased | hasWaiters) == 0 else { return counted }
        guard state & tallyMask == tallyMask else { return counted + tally }
        return counted & ~(tallyMask | revoking) | biased
    }

    /// Whether no reader and no writer is inside, and no reader may enter by announcement.
    static func isVacant(_ state: UInt64) -> Bool {
        state & (exclusive | biased | revoking) == 0 && readers(state) == 0
    }
}
