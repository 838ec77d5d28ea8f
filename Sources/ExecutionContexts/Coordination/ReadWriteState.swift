/// What the one word of a coordinator says.
///
/// The lower bits are flags, then comes a tally of counted reads, and the upper half counts the readers that are
/// inside and have said so here. Readers by claim are not counted: see `biased`.
@usableFromInline
enum ReadWriteState {
    /// A writer is inside, or somebody who runs the enqueued writes.
    @usableFromInline static var exclusive: UInt64 { 1 << 0 }
    /// A reader may enter by a claim in a slot of its own thread, which writes nothing that others write.
    @usableFromInline static var biased: UInt64 { 1 << 1 }
    /// The bias was taken back, and readers that entered by claim may still be inside.
    @usableFromInline static var claimed: UInt64 { 1 << 2 }
    /// Enqueued writes wait, or somebody has been overtaken too long: who comes stands in line.
    @usableFromInline static var closed: UInt64 { 1 << 3 }
    /// Somebody stands in line, and is to be told when there is room.
    @usableFromInline static var waited: UInt64 { 1 << 4 }
    /// Somebody has been told and is on the way: no need to tell another.
    @usableFromInline static var told: UInt64 { 1 << 5 }

    /// The flags that change only under the lock of the line.
    static var ofLine: UInt64 { closed | waited | told }

    /// One counted read, for the tally that brings the bias back.
    static var tally: UInt64 { 1 << 8 }
    static var tallies: UInt64 { 0x7f << 8 }
    /// One counted reader inside.
    static var reader: UInt64 { 1 << 32 }

    static func readers(_ state: UInt64) -> UInt64 { state >> 32 }

    /// What a reader by claim looks at: it may enter if of these there is only the bias.
    @usableFromInline static var doors: UInt64 { exclusive | biased | closed }

    /// Whether the one who leaves must see to those who wait.
    static func isAwaited(_ state: UInt64) -> Bool {
        state & closed != 0 || state & (waited | told) == waited
    }

    /// One more counted reader; after 128 without a writer in between, the bias comes back.
    static func counting(_ state: UInt64) -> UInt64 {
        let counted = state + reader
        guard state & (biased | waited) == 0 else { return counted }
        guard state & tallies == tallies else { return counted + tally }
        return counted & ~(tallies | claimed) | biased
    }

    /// Whether nobody is inside and nobody may enter by claim.
    static func isVacant(_ state: UInt64) -> Bool {
        state & (exclusive | biased | claimed) == 0 && readers(state) == 0
    }
}
