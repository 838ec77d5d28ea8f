internal import Synchronization

/// What stands behind an `Async`, whatever its value: the state machine, its lock, the way up and down, the outcome.
///
/// A cell that was derived from another one is a party of that one: one object is both, so that a link of a chain is
/// one allocation. The source's line holds it; how it knows its source, see `link`. What can be done with a cell stands in the
/// files beside this: its parties, its end, its source, its value.
@usableFromInline
@safe class AsyncCell: Party, @unchecked Sendable {
    // Unchecked: `state` and `link` are reached under `lock` only, which makes the run-time exclusivity checks
    // superfluous; `phase` shows the state's to those who have not got the lock. The outcome is written once, under the
    // lock, before the phase says so, and read after.
    final let lock = EmbeddedLock()
    @exclusivity(unchecked) final var state = AsyncState()
    final let phase = Atomic<UInt8>(AsyncState.Phase.pending.rawValue)
    /// Whether it ended with an error.
    @usableFromInline
    @exclusivity(unchecked) final var isFailure = false
    /// For a subclass, which has no room of its own left.
    @exclusivity(unchecked) final var tag: UInt8
    /// The cell in whose line this one stands, until that has told it; later the next in a line of those that are to tell.
    ///
    /// Not counted: a cell that has not ended is kept by whoever will end it, and one that tells by its teller. So whoever
    /// finds it here under the lock, while this cell is pending, finds it alive.
    @exclusivity(unchecked) final var link: Unmanaged<AsyncCell>?
    /// What it does when its source has ended; belongs to whoever takes it out of that line, or cancels.
    ///
    /// Here and not where it is used: a subclass with references of its own costs two more counts at its end.
    @exclusivity(unchecked) final var step: Step?
    /// Before the end the first callback, if there is one. After it the value or the error, or the address of a larger
    /// value.
    @usableFromInline
    @exclusivity(unchecked) final var words: (UInt, UInt) = (0, 0)
    /// Whose life in these words must be ended; nil where there is nothing to do.
    @usableFromInline
    @exclusivity(unchecked) final var type: Any.Type?

    /// Makes the second cell of the first one, which has ended; by who knows the types.
    @usableFromInline typealias Step = @Sendable (_ from: AsyncCell, _ to: AsyncCell) -> Void

    @usableFromInline
    init(_ step: Step? = nil, tag: UInt8 = 0) {
        unsafe self.step = step
        unsafe self.tag = tag
        super.init()
    }

    deinit {
        assert(
            unsafe !isPending || tag & Self.isEndless != 0,
            "A cell was let go of before it ended, by whoever was to end it.")
        if let type = unsafe type { destroy(type) }
    }

    // Acquiring: who sees that it has ended sees the outcome.
    @usableFromInline
    final var isPending: Bool { phase.load(ordering: .acquiring) == AsyncState.Phase.pending.rawValue }

    /// Whether it has ended and nobody is being told, so that a callback may be called past the line.
    @usableFromInline
    final var isTold: Bool { phase.load(ordering: .acquiring) == AsyncState.Phase.told.rawValue }

    // MARK: - What a kind of cell may do in its own way

    /// Runs after everybody was told, once; for those who hold something until the end, and say so in their tag.
    func didEnd() {}

    override final func tell(by source: AsyncCell) {
        hear(of: source)
        if isPending { forget(source) }
    }

    /// Does what is to be done now that the source has ended.
    func hear(of source: AsyncCell) { takeStep(source) }

    /// Ends it with `CancellationError`, and leaves its source; true if this did it.
    @usableFromInline
    func cancel() -> Bool { giveUp(CancellationError()) }

    /// Frees the step of a cell that gave up; `hasLeft` says that its source will not tell it any more.
    func didGiveUp(beforeTold hasLeft: Bool) {
        if hasLeft { unsafe step = nil }
    }

    /// What must end before this can, as far as that is known.
    var needs: [Need] { awaited.map { [Need(party: self, source: $0)] } ?? [] }

    /// A sentence that says why a thread that waits for this waits for itself, or nil.
    var obstacle: String? { nil }

    override var label: String { "a value made by hand" }

    // MARK: - What the tag says, beside what a kind of cell says in the lower bits

    /// It holds something until it has ended.
    static var holdsUntilEnd: UInt8 { 0x80 }
    /// Nobody will end it, unless it is cancelled, so nobody keeps it.
    static var isEndless: UInt8 { 0x40 }
    /// It keeps itself: another cell stands in its line, which counts on it, and nobody will end it.
    static var keepsItself: UInt8 { 0x20 }
}
