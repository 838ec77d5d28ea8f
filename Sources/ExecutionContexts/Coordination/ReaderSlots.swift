/// The slots in which readers announce themselves: a slot has the address of what its thread reads.
///
/// With the lowest bit set, it informs only the thread itself, because that read is counted in the
/// word of what it reads.
@usableFromInline
typealias ReaderSlots = ThreadSlots
