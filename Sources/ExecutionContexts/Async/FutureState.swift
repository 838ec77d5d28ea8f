internal import CPlatform
internal import Synchronization

/// The heap object behind an `Async` of any value type: state machine, lock, links and outcome.
///
/// A derived future state is a subscriber of its source. One object is both, so that each link of a
/// chain costs one allocation. The queue of the source owns the subscriber; see `link` for how the
/// subscriber refers to its source. Subscribers, completion, source and value have extensions of
/// their own, in the files beside this one.
@usableFromInline
@safe class FutureState: FutureSubscriber, @unchecked Sendable {
    // Unchecked: `machine` and `link` are accessed under `lock` only, which makes the run-time
    // exclusivity checks superfluous. `phase` publishes the machine's phase to threads without the
    // lock. The outcome is written once, under the lock, before `phase` says so, and read after.
    final let lock = EmbeddedLock()
    @exclusivity(unchecked) final var machine = FutureStateMachine()
    final let phase = Atomic<UInt8>(FutureStateMachine.Phase.pending.rawValue)
    /// Whether the outcome is an error.
    @usableFromInline
    @exclusivity(unchecked) final var isFailure = false
    /// Bits for the subclasses: one that stored them itself would be a larger object.
    @exclusivity(unchecked) final var tag: UInt8
    /// The source, until it has notified this one; later the next in a queue of completed states.
    ///
    /// Not counted, because the source's queue counts this one. `source()` reads it under the lock.
    /// The memory it points to is always allocated:
    /// - A source that is freed while pending takes this lock in its `deinit` and clears the link.
    /// - A source that notifies is retained by the notifying thread, which clears the link as well.
    ///
    /// The source's reference count may still be zero, so `source()` tries to retain it.
    @exclusivity(unchecked) final var link: Unmanaged<FutureState>?
    /// Completes this state when its source has completed; the thread that takes it out owns it.
    ///
    /// That thread is the one that removes this from the source's queue, or the one that cancels.
    /// Stored here, because references of a subclass of its own cost two more counts at its end.
    @exclusivity(unchecked) final var propagation: Propagation?
    /// Before completion the first callback, if any; after it the outcome, or a pointer to it.
    @usableFromInline
    @exclusivity(unchecked) final var words = OutcomeWords()
    /// The type of the value in `words` that must be destroyed; nil if there is none.
    @usableFromInline
    @exclusivity(unchecked) final var type: Any.Type?

    /// Completes the second state from the first, a completed one; its maker knows the value types.
    @usableFromInline typealias Propagation =
        @Sendable (_ from: FutureState, _ to: FutureState) -> Void

    @usableFromInline
    init(_ propagation: Propagation? = nil, tag: UInt8 = 0, mayFollow: Bool = false) {
        unsafe self.propagation = propagation
        unsafe self.tag = tag
        super.init(mayFollow: mayFollow)
    }

    // A pending state is freed when no reference is left that could complete it: for example a
    // delay that never comes, and the futures derived from it.
    deinit {
        if unsafe !machine.isQueueEmpty { unsafe machine.sourceDeinitialized(address) }
        if unsafe type != nil || propagation != nil || !machine.isQueueEmpty { freeContents() }
    }

    // Acquiring: a thread that sees the completion also sees the outcome.
    @usableFromInline
    final var isPending: Bool {
        SimulationHooks.look()
        return phase.load(ordering: .acquiring) == FutureStateMachine.Phase.pending.rawValue
    }

    /// Whether it has completed and no subscriber is queued, so that a callback may skip the queue.
    @usableFromInline
    final var hasNotified: Bool {
        SimulationHooks.look()
        return phase.load(ordering: .acquiring) == FutureStateMachine.Phase.notified.rawValue
    }

    override final func sourceDeinitialized(_ source: UnsafeRawPointer) {
        // After the unlock no thread reads the memory of the source any more.
        guard lockIfPending() else { return }
        if unsafe link.map({ unsafe UnsafeRawPointer($0.toOpaque()) }) == source {
            unsafe link = nil
            unsafe sourceWasFreed = true
        }
        unlock()
    }

    // MARK: - Overridden by subclasses

    /// Runs once, after all subscribers were notified, in a state whose tag has
    /// `holdsUntilCompletion`.
    func didComplete() {}

    override final func notify(by source: FutureState) {
        sourceCompleted(source)
        if isPending { forget(source) }
    }

    /// Reacts to the completion of the source.
    func sourceCompleted(_ source: FutureState) { propagate(source) }

    /// Runs the propagation, on the context of the hop; on the notifying thread if the outcome
    /// skips the function.
    func arrive(with source: FutureState) { fatalError("A state that hops overrides this.") }

    /// Handles that the context refused or dropped the job of its context hop.
    func refuse(_ refusal: Refusal) { fatalError("A state that hops overrides this.") }

    /// Whether it may be moved to the queue of the state that its source follows.
    var isMovable: Bool { true }

    /// Completes it with `CancellationError` and leaves its source; true if this call completed it.
    @usableFromInline
    func cancel() -> Bool { giveUp(CancellationError()) }

    /// Frees the propagation of a state that gave up, if it left before its source notified it.
    func didGiveUp(beforeNotified hasLeft: Bool) {
        if hasLeft { freePropagation() }
    }

    /// Frees the propagation, with bounded nesting: its captures may cancel the next state.
    final func freePropagation() {
        // Passed on as it is taken out: a local variable would free it here, at its end.
        if unsafe propagation != nil { BoundedNesting.free(unsafe propagation.take()) }
    }

    /// Whether it is cancelled when its last interested subscriber has left.
    var cancelsWhenUnwanted: Bool { true }

    /// Begins what computes the value of a lazy state, unless it has completed.
    ///
    /// Called once, by the thread whose subscriber is the first, without any lock.
    func begin() {}

    /// Raises the priority of the task that computes its value, if there is one.
    func escalateTask(to priority: TaskPriority) {}

    /// The sources that must complete before this can, as far as they are known.
    var dependencies: [Dependency] {
        awaited.map { [Dependency(subscriber: self, source: $0)] } ?? []
    }

    /// Whether it completes only if all of its dependencies do; otherwise one may suffice.
    var needsAll: Bool { true }

    /// Whether it may complete although its dependencies do not.
    var mayEndAlone: Bool { false }

    /// What the calling thread keeps from running, and this needs beside its dependencies; nil if
    /// there is no such thing.
    var obstacle: String? { nil }

    override var label: String { "a value made by hand" }

    // MARK: - Bits of the tag; a subclass has the lower ones

    /// It holds a resource until it has completed.
    static var holdsUntilCompletion: UInt8 { 0x80 }

    /// It begins with its first interested subscriber, which has not arrived.
    static var beginsWithInterest: UInt8 { 0x40 }
}

/// Storage for two words of any type, at a stable address.
///
/// Made of atomics, which are never copied or moved. Code that asks for the address of two plain
/// integers would get that of a copy. The optimizer assumes that integers need no owner, and would
/// then free the future state before what was read from the copy is retained.
@usableFromInline
struct OutcomeWords: ~Copyable {
    private let first = Atomic<UInt>(0)
    private let second = Atomic<UInt>(0)
}
