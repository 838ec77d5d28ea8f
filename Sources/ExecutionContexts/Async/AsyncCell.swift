internal import CPlatform
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
    /// Not counted, since the line counts this one; read by `source()`, under the lock. Its memory is there: a cell that is
    /// freed before it has ended takes this lock in its `deinit` to erase itself here, and one that tells is kept by its
    /// teller, who erases it as well. That the object is still alive does not follow from that, so `source()` asks.
    @exclusivity(unchecked) final var link: Unmanaged<AsyncCell>?
    /// What it does when its source has ended; belongs to whoever takes it out of that line, or cancels.
    ///
    /// Here and not where it is used: a subclass with references of its own costs two more counts at its end.
    @exclusivity(unchecked) final var step: Step?
    /// Before the end the first callback, if there is one. After it the value or the error, or the address of a larger
    /// value.
    @usableFromInline
    @exclusivity(unchecked) final var words = OutcomeWords()
    /// Whose life in these words must be ended; nil where there is nothing to do.
    @usableFromInline
    @exclusivity(unchecked) final var type: Any.Type?

    /// Makes the second cell of the first one, which has ended; by who knows the types.
    @usableFromInline typealias Step = @Sendable (_ from: AsyncCell, _ to: AsyncCell) -> Void

    @usableFromInline
    init(_ step: Step? = nil, tag: UInt8 = 0, mayPassOn: Bool = false) {
        unsafe self.step = step
        unsafe self.tag = tag
        super.init(mayPassOn: mayPassOn)
    }

    // One that has not ended is freed where nobody is left to end it: a delay that never comes, and what waits for it.
    deinit {
        if unsafe !state.isLineEmpty { unsafe state.sourceIsGone(address) }
        if unsafe type != nil || step != nil || !state.isLineEmpty { freeContents() }
    }

    // Acquiring: who sees that it has ended sees the outcome.
    @usableFromInline
    final var isPending: Bool { phase.load(ordering: .acquiring) == AsyncState.Phase.pending.rawValue }

    /// Whether it has ended and nobody is being told, so that a callback may be called past the line.
    @usableFromInline
    final var isTold: Bool { phase.load(ordering: .acquiring) == AsyncState.Phase.told.rawValue }

    override final func sourceIsGone(_ source: UnsafeRawPointer) {
        // Once this lock is free again, no thread reads the memory of the source, and none will.
        guard lockIfPending() else { return }
        if unsafe link.map({ unsafe UnsafeRawPointer($0.toOpaque()) }) == source {
            unsafe link = nil
            unsafe hasLostSource = true
        }
        unlock()
    }

    // MARK: - What a kind of cell may do in its own way

    /// Runs after everybody was told, once; for those who hold something until the end, and say so in their tag.
    func didEnd() {}

    override final func tell(by source: AsyncCell) {
        hear(of: source)
        if isPending { forget(source) }
    }

    /// Does what is to be done now that the source has ended.
    func hear(of source: AsyncCell) { takeStep(source) }

    /// The turn on a context that it has asked for by its hop has come.
    func arrive(at source: AsyncCell) { fatalError("A cell that hops says what it does then.") }

    /// The turn will not come.
    func refuse(_ refusal: Refusal) { fatalError("A cell that hops says what it does then.") }

    /// Whether it may be moved from the line of the cell that it waits for to another one's, which ends like that.
    var isMovable: Bool { true }

    /// Ends it with `CancellationError`, and leaves its source; true if this did it.
    @usableFromInline
    func cancel() -> Bool { giveUp(CancellationError()) }

    /// Frees the step of a cell that gave up; `hasLeft` says that its source will not tell it any more.
    func didGiveUp(beforeTold hasLeft: Bool) {
        if hasLeft { freeStep() }
    }

    /// Frees the step where nesting is counted: it may have captured what cancels the next cell.
    final func freeStep() {
        // Given away as it is taken out: a variable would free it here, at its end.
        if unsafe step != nil { Delivery.free(unsafe step.take()) }
    }

    /// Whether it is cancelled when its last interested subscriber has left.
    var endsUnwanted: Bool { true }

    /// Raises the priority of the task that computes its value, if there is one.
    func escalateTask(to priority: TaskPriority) {}

    /// What must end before this can, as far as that is known.
    var needs: [Need] { awaited.map { [Need(party: self, source: $0)] } ?? [] }

    /// A sentence that says why a thread that waits for this waits for itself, or nil.
    var obstacle: String? { nil }

    /// The cell whose outcome decides whether there is such an obstacle.
    var decider: AsyncCell? { nil }

    override var label: String { "a value made by hand" }

    // MARK: - What the tag says, beside what a kind of cell says in the lower bits

    /// It holds something until it has ended.
    static var holdsUntilEnd: UInt8 { 0x80 }
}
