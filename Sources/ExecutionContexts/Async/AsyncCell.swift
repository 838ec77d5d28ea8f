internal import CPlatform
internal import Synchronization

/// What stands behind an `Async`, whatever its value: the state machine, its lock, the way up and down, the outcome.
///
/// A cell that was derived from another one is a party of that one: one object is both, so that a link of a chain is
/// one allocation. It holds its source until it has ended, and the source's line holds it.
@usableFromInline
@safe class AsyncCell: Party, @unchecked Sendable {
    // Unchecked: `state` and `source` are reached under `lock` only, which makes the run-time exclusivity checks
    // superfluous; `phase` shows the state's to those who have not got the lock. The outcome is written once, under the
    // lock, before the phase says so, and read after.
    private final let lock = EmbeddedLock()
    @exclusivity(unchecked) private final var state = AsyncState()
    private final let phase = Atomic<UInt8>(AsyncState.Phase.pending.rawValue)
    /// Whether it ended with an error.
    @usableFromInline
    @exclusivity(unchecked) final var isFailure = false
    /// The cell in whose line this one stands, owned, until it ends; then the next in a line of those that are to tell.
    @exclusivity(unchecked) private final var link: Unmanaged<AsyncCell>?
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
    override init() {}

    deinit {
        if let type = unsafe type { destroy(type) }
        // Only a cell that waited for what never comes has one.
        unsafe link?.release()
    }

    // Acquiring: who sees that it has ended sees the outcome.
    @usableFromInline
    final var isPending: Bool { phase.load(ordering: .acquiring) == AsyncState.Phase.pending.rawValue }

    /// Whether it has ended and nobody is being told, so that a callback may be called past the line.
    @usableFromInline
    final var isTold: Bool { phase.load(ordering: .acquiring) == AsyncState.Phase.told.rawValue }

    // MARK: - Parties

    /// Takes a party in, and tells it if that is due.
    @usableFromInline
    final func join(_ party: consuming Party) {
        lock.lock()
        let mustTell = unsafe state.join(party)
        if mustTell { show() }
        lock.unlock()
        if mustTell { Delivery.tell(by: self) }
    }

    /// Takes in a callback that is to be called on the spot; the first of all needs no memory of its own.
    @usableFromInline
    final func join(_ body: @escaping Callback.Body) {
        lock.lock()
        let isFirst = unsafe state.joinFirst()
        if isFirst {
            unsafe write(Callback.Boxed(body: body))
            unsafe type = Callback.Boxed.self
        }
        lock.unlock()
        if !isFirst { join(Callback(nil, body)) }
    }

    /// Lets a party go that has not been told; the last one to leave takes the cell with it (law 26).
    ///
    /// False if the party has been told or is being told.
    @discardableResult
    final func leave(_ party: Party, cancelsIfLast: Bool = true) -> Bool {
        lock.lock()
        let departure = unsafe state.leave(party)
        lock.unlock()
        if departure == .leftNobody, cancelsIfLast { Delivery.cancel(self) }
        return departure != .tooLate
    }

    /// Cancels if there is nobody who wants to know; for one who thought of joining and did not.
    final func cancelIfUnwanted() {
        lock.lock()
        let isUnwanted = unsafe state.isUnwanted
        lock.unlock()
        if isUnwanted { Delivery.cancel(self) }
    }

    /// Tells one after the other, for whoever has brought about the end or has joined after it.
    final func tellAll(_ first: Callback.Body?) {
        unsafe Frame.enter(identity) {
            first?(self)
            while let party = next() { party.tell(by: self) }
        }
    }

    private final func next() -> Party? {
        lock.lock()
        defer { lock.unlock() }
        let party = unsafe state.next()
        if party == nil { show() }
        return party
    }

    /// Telling is put off: the first callback joins the line.
    final func putBack(_ first: @escaping Callback.Body) {
        let callback = Callback(nil, first)
        lock.lock()
        unsafe state.putBack(callback)
        lock.unlock()
    }

    /// The next of those that have ended and are to tell it; belongs to the thread that tells.
    final var nextErrand: Unmanaged<AsyncCell>? {
        get { unsafe link }
        set { unsafe link = newValue }
    }

    /// What stands on the thread's stack of frames while it tells the parties.
    final var identity: Frame.Owner { unsafe Frame.owner(self) }

    // Releasing: after the outcome. The fence is for the compiler, which may move a retain below a store.
    private final func show() {
        ec_compiler_fence()
        unsafe phase.store(state.phase.rawValue, ordering: .releasing)
    }

    // MARK: - The end

    /// Locks, if it has not ended.
    final func lockIfPending() -> Bool {
        lock.lock()
        if unsafe state.phase == .pending { return true }
        lock.unlock()
        return false
    }

    final func unlock() { lock.unlock() }

    /// What is there only until it ends; nil afterwards.
    final func whilePending<Value>(_ read: () -> Value?) -> Value? {
        guard lockIfPending() else { return nil }
        defer { unlock() }
        return read()
    }

    /// What the first caller to end it has in hand: the lock, and the first callback.
    @usableFromInline
    struct Ending {
        let first: Callback.Body?
    }

    /// Locks, if it has not ended. The caller then stores the outcome and calls `finish`.
    @usableFromInline
    final func beginEnd() -> Ending? {
        guard lockIfPending() else { return nil }
        guard unsafe state.hasFirst else { return Ending(first: nil) }
        unsafe type = nil
        return unsafe Ending(first: take(Callback.Boxed.self).body)
    }

    /// Unlocks and tells everybody; returns the source, which this cell wants nothing of any more.
    @usableFromInline
    @discardableResult
    final func finish(_ ending: consuming Ending) -> AsyncCell? {
        let mustTell = unsafe state.end()
        let source = unsafe link.take()
        show()
        lock.unlock()
        if mustTell { Delivery.tell(by: self, ending.first) }
        didEnd()
        return unsafe source?.takeRetainedValue()
    }

    /// Ends it with an error and tells everybody; false if it had ended already, which changes nothing (law 24).
    @usableFromInline
    @discardableResult
    final func end(throwing error: any Error) -> Bool {
        guard let ending = beginEnd() else { return false }
        fail(error)
        finish(ending)
        return true
    }

    /// Stores an error instead of a value; under the lock, in the place of a value.
    final func fail(_ error: any Error) {
        store(Failure(error: error))
        unsafe isFailure = true
    }

    /// An error as a value of one type: by itself it would be opened, and stored as what it is.
    @usableFromInline
    struct Failure {
        @usableFromInline let error: any Error
    }

    /// Runs after everybody was told, once; for those who hold something until the end.
    func didEnd() {}

    /// Notes the source, which this cell is about to join; false if this one has ended.
    final func adopt(_ source: AsyncCell) -> Bool {
        guard lockIfPending() else { return false }
        let before = unsafe link
        unsafe link = Unmanaged.passRetained(source)
        lock.unlock()
        unsafe before?.release()
        return true
    }

    /// Joins its source; for a cell that nobody knows of yet.
    final func wait(for source: AsyncCell, _ step: @escaping Step) {
        unsafe self.step = step
        wait(for: source)
    }

    /// Joins its source; for a cell that nobody knows of yet.
    final func wait(for source: AsyncCell) {
        unsafe link = Unmanaged.passRetained(source)
        source.join(self)
    }

    /// Ends like another one, when that has ended. `copy` knows the type.
    @usableFromInline
    final func follow(_ other: AsyncCell, _ copy: @escaping Step) {
        guard other !== self else { return _ = end(throwing: AsyncError.waitsForItself) }
        // Noted before it joins: who ends this one from now on leaves that line.
        guard adopt(other) else { return other.cancelIfUnwanted() }
        unsafe step = copy
        other.takeIn(self)
    }

    /// Takes in a cell that others know of, unless it has ended: then nobody would take it out of the line again.
    private final func takeIn(_ follower: AsyncCell) {
        lock.lock()
        // Whoever ended it meanwhile has tried to take it out, or will find it here.
        let isPending = follower.isPending
        let mustTell = unsafe isPending && state.join(follower)
        if mustTell { show() }
        lock.unlock()
        if mustTell { Delivery.tell(by: self) }
        if isPending { return }
        unsafe follower.step = nil
        cancelIfUnwanted()
    }

    /// Takes the step that was to be taken when the source had ended, unless it has ended itself.
    final func takeStep(_ source: AsyncCell) {
        let step = unsafe step.take()
        if isPending { step?(source, self) }
    }

    override func tell(by source: AsyncCell) { takeStep(source) }

    // MARK: - Cancelling

    /// Ends it with `CancellationError`, and leaves its source; true if this did it.
    @usableFromInline
    func cancel() -> Bool { giveUp(CancellationError()) }

    /// Ends it with an error that did not come from its source, and leaves that; true if this did it.
    @discardableResult
    final func giveUp(_ error: any Error) -> Bool {
        guard let ending = beginEnd() else { return false }
        fail(error)
        let source = finish(ending)
        let hasLeft = source?.leave(self) ?? false
        didGiveUp(beforeTold: hasLeft)
        return true
    }

    /// Frees the step of a cell that gave up; `hasLeft` says that its source will not tell it any more.
    func didGiveUp(beforeTold hasLeft: Bool) {
        if hasLeft { unsafe step = nil }
    }

    // MARK: - Who waits for whom

    /// What it waits for, as far as it does and that is one cell.
    final var awaited: AsyncCell? {
        lock.lock()
        defer { lock.unlock() }
        return unsafe state.phase == .pending ? link?.takeUnretainedValue() : nil
    }

    /// Somebody in the line of a cell that this one cannot do without.
    struct Need {
        let party: Party
        let source: AsyncCell
    }

    /// What must end before this can, as far as that is known.
    var needs: [Need] { awaited.map { [Need(party: self, source: $0)] } ?? [] }

    /// Who waits for this, in order.
    final var partyLabels: [String] {
        lock.lock()
        let (hasFirst, parties) = unsafe (state.hasFirst, state.parties)
        lock.unlock()
        // Outside the lock: the name of a context is the user's to say (law 9).
        return (hasFirst ? [Callback.label(on: nil)] : []) + parties.map(\.label)
    }

    /// Whether this party waits to be told.
    final func isAwaited(by party: Party) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        return unsafe state.contains(party)
    }

    /// A sentence that says why a thread that waits for this waits for itself, or nil.
    var obstacle: String? { nil }

    override var label: String { "a value made by hand" }
}
