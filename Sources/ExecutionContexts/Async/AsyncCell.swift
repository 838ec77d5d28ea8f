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
    /// For a subclass, which has no room of its own left.
    @exclusivity(unchecked) final var tag: UInt8
    /// The cell in whose line this one stands, until that has told it; later the next in a line of those that are to tell.
    ///
    /// Not counted: a cell that has not ended is kept by whoever will end it, and one that tells by its teller. So whoever
    /// finds it here under the lock, while this cell is pending, finds it alive.
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
    init(_ step: Step? = nil, tag: UInt8 = 0) {
        unsafe self.step = step
        unsafe self.tag = tag
        super.init()
    }

    deinit {
        assert(!isPending, "A cell was let go of before it ended, by whoever was to end it.")
        if let type = unsafe type { destroy(type) }
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
        if !isFirst { join(Callback(body)) }
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
        let outer = unsafe ec_tail()
        var tail = tellLine(first)
        // A chain is told link by link in this loop, and not one inside the other.
        while let cell = tail { tail = cell.tellLine(nil) }
        unsafe ec_set_tail(outer)
    }

    /// Tells one after the other; returns the last one if it has ended by it and is to tell its own line.
    private final func tellLine(_ first: Callback.Body?) -> AsyncCell? {
        var tail: AsyncCell?
        unsafe Frame.enter(identity) {
            first?(self)
            while let party = next() {
                // Not the last one after all: it goes before those who came after it.
                if let cell = tail.take() { Delivery.tell(by: cell) }
                unsafe ec_set_tail(party.address)
                party.tell(by: self)
                if unsafe ec_tail() == nil { tail = unsafe unsafeDowncast(party, to: AsyncCell.self) }
            }
        }
        return tail
    }

    /// Leaves the telling to whoever is telling this one right now; false if there is nobody.
    private final func becomesTail() -> Bool {
        guard unsafe ec_tail() == address else { return false }
        ec_set_tail(nil)
        return true
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
        let callback = Callback(first)
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

    /// Unlocks, tells everybody and forgets the source.
    @usableFromInline
    final func finish(_ ending: consuming Ending) {
        unsafe link = nil
        tell(ending, asTail: true)
    }

    /// Unlocks, tells everybody and leaves the source, which is cancelled if nobody else wants it.
    final func finishLeaving(_ ending: consuming Ending) {
        // Kept from here on: until now the link has been to a living cell.
        let source = unsafe link.take()?.takeUnretainedValue()
        tell(ending)
        let hasLeft = source?.leave(self) ?? false
        didGiveUp(beforeTold: hasLeft)
    }

    private final func tell(_ ending: consuming Ending, asTail: Bool = false) {
        let mustTell = unsafe state.end()
        show()
        lock.unlock()
        if mustTell, ending.first != nil || !asTail || !becomesTail() {
            Delivery.tell(by: self, ending.first)
        }
        if unsafe tag & Self.holdsUntilEnd != 0 { didEnd() }
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

    /// Runs after everybody was told, once; for those who hold something until the end, and say so in their tag.
    func didEnd() {}

    static var holdsUntilEnd: UInt8 { 0x80 }

    // MARK: - The source

    /// Joins its source; for a cell that nobody knows of yet.
    final func wait(for source: AsyncCell, _ step: @escaping Step) {
        unsafe self.step = step
        wait(for: source)
    }

    /// Joins its source; for a cell that nobody knows of yet.
    final func wait(for source: AsyncCell) {
        unsafe link = Unmanaged.passUnretained(source)
        source.join(self)
    }

    /// Ends like another one, when that has ended. `copy` knows the type.
    @usableFromInline
    final func follow(_ other: AsyncCell, _ copy: @escaping Step) {
        guard other !== self else { return _ = end(throwing: AsyncError.waitsForItself) }
        guard lockIfPending() else { return other.cancelIfUnwanted() }
        unsafe step = copy
        unsafe link = Unmanaged.passUnretained(other)
        lock.unlock()
        other.join(self)
        // Ended otherwise in between, when it stood in no line yet.
        if !isPending, other.leave(self) { unsafe step = nil }
    }

    override final func tell(by source: AsyncCell) {
        hear(of: source)
        if isPending { forget(source) }
    }

    /// Does what is to be done now that the source has ended.
    func hear(of source: AsyncCell) { takeStep(source) }

    /// Takes the step that was to be taken when the source had ended, unless it has ended itself.
    final func takeStep(_ source: AsyncCell) {
        let step = unsafe step.take()
        if isPending { step?(source, self) }
    }

    /// The source has told this cell and may go, while this one waits for something else.
    private final func forget(_ source: AsyncCell) {
        guard lockIfPending() else { return }
        if unsafe link?.toOpaque() == Unmanaged.passUnretained(source).toOpaque() { unsafe link = nil }
        lock.unlock()
    }

    // MARK: - Cancelling

    /// Ends it with `CancellationError`, and leaves its source; true if this did it.
    @usableFromInline
    func cancel() -> Bool { giveUp(CancellationError()) }

    /// Ends it with an error that did not come from its source, and leaves that; true if this did it.
    @discardableResult
    final func giveUp(_ error: any Error) -> Bool {
        guard let ending = beginEnd() else { return false }
        fail(error)
        finishLeaving(ending)
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
        return (hasFirst ? [Callback.label] : []) + parties.map(\.label)
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
