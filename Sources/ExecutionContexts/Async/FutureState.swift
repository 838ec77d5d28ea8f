internal import CPlatform
internal import Synchronization

/// The heap object behind an `Async` of any value type: state machine, lock, links and outcome.
///
/// A derived future state is a subscriber of its source. One object is both, so that each link of a
/// chain costs one allocation. The queue of the source owns it, and its `link` leads back.
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
    /// The source, until it has notified this one.
    ///
    /// Not counted, because the source's queue counts this one. `source()` reads it under the lock.
    /// The memory it points to is always allocated:
    /// - A source that is freed while pending takes this lock in its `deinit` and clears the link.
    /// - A source that notifies is retained by the notifying thread, which clears the link as well.
    ///
    /// The source's reference count may still be zero, so `source()` tries to retain it.
    @exclusivity(unchecked) private final var link: Unmanaged<FutureState>?
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

    // A pending state is freed when nothing is left to complete it, such as a delay without end.
    deinit {
        if unsafe !machine.queue.isEmpty { unsafe machine.queue.sourceDeinitialized(address) }
        if unsafe type != nil || propagation != nil || !machine.queue.isEmpty { freeContents() }
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
        lock.unlock()
    }

    /// Runs once, after all subscribers were notified, if the tag has `holdsUntilCompletion`.
    func didComplete() {}

    override final func notify(by source: FutureState) {
        sourceCompleted(source)
        guard isPending, lockIfPending() else { return }
        // It has notified this state, and may be freed.
        if unsafe link?.toOpaque() == Unmanaged.passUnretained(source).toOpaque() {
            unsafe link = nil
        }
        lock.unlock()
    }

    func sourceCompleted(_ source: FutureState) { propagate(source) }

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
        if unsafe propagation != nil { Freeing.free(unsafe propagation.take()) }
    }

    /// Whether it is cancelled when its last interested subscriber has left.
    var cancelsWhenUnwanted: Bool { true }

    /// Begins what computes the value of a lazy state; called once, without any lock.
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

    /// What the caller keeps from running, and this needs beside its dependencies; nil if nothing.
    var obstacle: String? { nil }

    override var label: String { "a value made by hand" }

    // MARK: - Bits of the tag; a subclass has the lower ones

    /// It holds a resource until it has completed.
    static var holdsUntilCompletion: UInt8 { 0x80 }

    /// It begins with its first interested subscriber, which has not arrived.
    static var beginsWithInterest: UInt8 { 0x40 }
}

/// Completion of a future state, once (law 24), and its consequences.
extension FutureState {
    /// Locks it if it is pending; false, and unlocked, otherwise.
    final func lockIfPending() -> Bool {
        lock.lock()
        if unsafe machine.phase == .pending { return true }
        lock.unlock()
        return false
    }

    /// Reads under the lock what exists only until completion; nil afterwards.
    final func whilePending<Value>(_ read: () -> Value?) -> Value? {
        guard lockIfPending() else { return nil }
        defer { lock.unlock() }
        return read()
    }

    /// What the completing thread owns, beside the lock: the first callback, if there is one.
    @usableFromInline
    struct Completion: ~Copyable {
        var first: Callback.Body?
    }

    /// Locks it if it is pending. The caller then stores the outcome and calls `finishCompletion`.
    @usableFromInline
    final func beginCompletion() -> Completion? {
        guard lockIfPending() else { return nil }
        guard unsafe machine.hasFirst else { return Completion(first: nil) }
        unsafe type = nil
        return unsafe Completion(first: take(Callback.Boxed.self).body)
    }

    /// Unlocks, notifies all subscribers and forgets the source.
    @usableFromInline
    final func finishCompletion(_ completion: consuming Completion) {
        unsafe link = nil
        notify(completion, asTail: true)
    }

    /// Unlocks, notifies all subscribers and leaves the source, which may cancel that (law 26).
    final func finishCompletionAndUnsubscribe(_ completion: consuming Completion) {
        let source = source()
        // A source without a reference notifies no subscriber. It may not have reported that yet.
        let sourceWasFreed = unsafe sourceWasFreed || link != nil && source == nil
        unsafe link = nil
        notify(completion)
        let hasLeft = source?.unsubscribe(self) ?? sourceWasFreed
        didGiveUp(beforeNotified: hasLeft)
    }

    private final func notify(_ completion: consuming Completion, asTail: Bool = false) {
        // Consumed, so that the callback and its captures are freed within the bounds of nesting.
        let first = completion.first
        completion.first = nil
        let mustNotify = unsafe machine.complete()
        show()
        lock.unlock()
        if mustNotify, first != nil || !asTail || !becomesTail() {
            BoundedNesting.notify(by: self, consume first)
        }
        if unsafe tag & Self.holdsUntilCompletion != 0 { BoundedNesting.release(by: self) }
    }

    /// Completes it with an error; false, and no effect, if it had completed already (law 24).
    @usableFromInline
    @discardableResult
    final func complete(throwing error: any Error) -> Bool {
        guard let completion = beginCompletion() else { return false }
        fail(error)
        finishCompletion(completion)
        return true
    }

    /// Stores an error as the outcome; under the lock.
    final func fail(_ error: any Error) {
        store(Failure(error: error))
        unsafe isFailure = true
    }

    /// Wraps an error: on its own it would be opened as an existential, and stored as its own type.
    @usableFromInline
    struct Failure {
        @usableFromInline let error: any Error
    }

    /// Completes it with an error that is not its source's, and leaves the source; true if it did.
    @discardableResult
    final func giveUp(_ error: any Error) -> Bool {
        guard let completion = beginCompletion() else { return false }
        fail(error)
        finishCompletionAndUnsubscribe(completion)
        return true
    }

    /// Frees the user's closures and values, which may own further states, a million in a row.
    private final func freeContents() {
        guard let depth = Freeing.descend() else {
            return unsafe Freeing.postpone(
                Contents(
                    queue: machine.takeQueue(), propagation: propagation.take(),
                    outcome: type.take().map { takeOutcome($0) }))
        }
        if let type = unsafe type { destroy(type) }
        unsafe type = nil
        unsafe propagation = nil
        if unsafe !machine.queue.isEmpty { _ = unsafe machine.takeQueue() }
        Freeing.ascend(to: depth)
    }

    /// The contents of a state that was freed below the nesting limit.
    private final class Contents {
        private let queue: SubscriberQueue
        private let propagation: Propagation?
        private let outcome: Any?

        init(queue: consuming SubscriberQueue, propagation: Propagation?, outcome: Any?) {
            self.queue = queue
            self.propagation = propagation
            self.outcome = outcome
        }
    }
}

/// The thin generic layer that knows the type of the value: only it stores and loads.
///
/// The objects behind an `Async` are not generic: unspecialized generic code looks up types at run
/// time, which costs more than all other work here. This layer is specialized where it is called,
/// and all `Async`s that share a future state have the same type.
extension FutureState {
    /// Completes it with a value; false, and no effect, if it had completed already (law 24).
    @inlinable
    @discardableResult
    final func complete<Value>(with value: consuming Value) -> Bool {
        guard let completion = beginCompletion() else { return false }
        store(value)
        finishCompletion(completion)
        return true
    }

    /// Completes it with an outcome; false, and no effect, if it had completed already (law 24).
    @inlinable
    @discardableResult
    final func complete<Value>(with outcome: consuming Result<Value, any Error>) -> Bool {
        switch outcome {
        case .success(let value): complete(with: value)
        case .failure(let error): complete(throwing: error)
        }
    }

    /// The outcome of a completed state; `Value` is the type of its value.
    @inlinable
    final func outcome<Value>() -> Result<Value, any Error> {
        if let error { return .failure(error) }
        return .success(load())
    }

    /// The error of a completed state; nil if it has a value.
    @inlinable
    final var error: (any Error)? { unsafe isFailure ? (load() as Failure).error : nil }

    /// Completes it like another state of the same type, which has completed.
    @inlinable
    final func complete<Value>(like other: FutureState, _ type: Value.Type) {
        complete(with: other.outcome() as Result<Value, any Error>)
    }

    /// Whether values of this type are stored inline, in the words themselves.
    @inlinable @inline(__always)
    static func fits<Value>(_ type: Value.Type) -> Bool {
        MemoryLayout<Value>.size <= MemoryLayout<(UInt, UInt)>.size
            && MemoryLayout<Value>.alignment <= MemoryLayout<UInt>.alignment
    }

    /// Stores the outcome, inline or on the heap, and its type if it must be destroyed.
    @inlinable @inline(__always)
    final func store<Value>(_ value: consuming Value) {
        if Self.fits(Value.self) {
            unsafe write(value)
            if !_isPOD(Value.self) { unsafe type = Value.self }
        } else {
            let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            unsafe pointer.initialize(to: value)
            unsafe write(pointer)
            unsafe type = Value.self
        }
    }

    @inlinable @inline(__always)
    final func load<Value>() -> Value {
        // A read access, because many threads may read at a time. A raw one, because the words have
        // another declared type. The extended lifetime keeps the state alive until what is read has
        // been retained, which the pointer does not ensure.
        withExtendedLifetime(self) {
            unsafe withUnsafePointer(to: words) { words in
                let words = unsafe UnsafeRawPointer(words)
                if Self.fits(Value.self) { return unsafe words.load(as: Value.self) }
                return unsafe words.load(as: UnsafeMutablePointer<Value>.self).pointee
            }
        }
    }

    /// Destroys the outcome.
    private final func destroy<Value>(_ type: Value.Type) {
        if Self.fits(type) {
            _ = unsafe take(type)
        } else {
            let pointer = unsafe take(UnsafeMutablePointer<Value>.self)
            unsafe pointer.deinitialize(count: 1)
            unsafe pointer.deallocate()
        }
    }

    /// Moves the contents out of the words.
    private final func takeOutcome<Value>(_ type: Value.Type) -> Any {
        if Self.fits(type) { return unsafe take(type) }
        let pointer = unsafe take(UnsafeMutablePointer<Value>.self)
        defer { unsafe pointer.deallocate() }
        return unsafe pointer.move()
    }

    /// Initializes the words, which hold no value, with a value.
    @inlinable @inline(__always)
    @unsafe final func write<Content>(_ content: consuming Content) {
        let content = content
        _ = unsafe withWords { words in
            unsafe words.initializeMemory(as: Content.self, repeating: content, count: 1)
        }
    }

    /// Moves a value of this type, which the words hold, out of them.
    @unsafe final func take<Content>(_ type: Content.Type) -> Content {
        unsafe withWords { words in unsafe words.assumingMemoryBound(to: type).move() }
    }

    @inlinable @inline(__always)
    @unsafe final func withWords<Result>(_ body: (UnsafeMutableRawPointer) -> Result) -> Result {
        // A stored property without observers and exclusivity checks has a stable address.
        unsafe withUnsafeMutablePointer(to: &words) { unsafe body(UnsafeMutableRawPointer($0)) }
    }
}

/// The subscribers of a future state, and how they are notified.
extension FutureState {
    /// Adds a subscriber; notifies it if this has completed and no other thread is notifying.
    @usableFromInline
    final func addSubscriber(_ subscriber: consuming FutureSubscriber) {
        lock.lock()
        let mustNotify = unsafe machine.addSubscriber(subscriber)
        if mustNotify { show() }
        let mustBegin = mustBegin()
        lock.unlock()
        if mustNotify { BoundedNesting.notify(by: self) }
        if mustBegin { BoundedNesting.begin(self) }
    }

    /// Whether a lazy state must begin, which is so once; under the lock.
    ///
    /// The tag changes only while it is pending: who completed it reads the tag without the lock.
    private final func mustBegin() -> Bool {
        guard unsafe tag & Self.beginsWithInterest != 0, unsafe machine.phase == .pending else {
            return false
        }
        unsafe tag &= ~Self.beginsWithInterest
        return true
    }

    /// Begins a lazy state whose first subscriber is about to arrive.
    final func beginIfLazy() {
        if whilePending({ mustBegin() }) == true { BoundedNesting.begin(self) }
    }

    /// Adds a subscriber that is notified in order, and does not count as interest (law 26).
    final func addOnlooker(_ onlooker: FutureSubscriber) {
        lock.lock()
        let mustNotify = unsafe machine.addOnlooker(onlooker)
        if mustNotify { show() }
        lock.unlock()
        if mustNotify { BoundedNesting.notify(by: self) }
    }

    /// Adds a follower that other threads refer to, unless the follower has completed.
    ///
    /// A completed follower would stay in the queue: no thread would remove it. Once the follower
    /// is in, this does not access it: it may have been notified, and be in another queue by then.
    private final func addFollower(_ follower: FutureState) {
        lock.lock()
        // The thread that completed the follower has looked for it here already, or will find it.
        guard follower.isPending else {
            lock.unlock()
            follower.freePropagation()
            return cancelIfUnwanted()
        }
        let mustNotify = unsafe machine.addSubscriber(follower)
        if mustNotify { show() }
        let mustBegin = mustBegin()
        lock.unlock()
        if mustNotify { BoundedNesting.notify(by: self) }
        if mustBegin { BoundedNesting.begin(self) }
    }

    /// Adds a callback without a context hop; the first subscriber of all needs no allocation.
    @usableFromInline
    final func addSubscriber(_ body: @escaping Callback.Body) {
        lock.lock()
        let isFirst = unsafe machine.joinFirst()
        if isFirst {
            unsafe write(Callback.Boxed(body: body))
            unsafe type = Callback.Boxed.self
        }
        let mustBegin = isFirst && mustBegin()
        lock.unlock()
        if !isFirst { addSubscriber(Callback(body)) }
        if mustBegin { BoundedNesting.begin(self) }
    }

    /// Removes a subscriber; when the last interested one leaves, cancels this state (law 26).
    ///
    /// False if the subscriber has been notified or is being notified.
    @discardableResult
    final func unsubscribe(_ subscriber: FutureSubscriber, cancelsIfLast: Bool = true) -> Bool {
        lock.lock()
        let departure = unsafe machine.unsubscribe(subscriber)
        lock.unlock()
        if departure == .leftUnwanted, cancelsIfLast, cancelsWhenUnwanted {
            BoundedNesting.cancel(self)
        }
        return departure != .tooLate
    }

    /// Cancels it if no subscriber is interested; called in place of an `addSubscriber`.
    final func cancelIfUnwanted() {
        lock.lock()
        let isUnwanted = unsafe machine.isUnwanted
        lock.unlock()
        if isUnwanted, cancelsWhenUnwanted { BoundedNesting.cancel(self) }
    }

    /// Notifies the subscribers in order; called by the thread that entered the phase `notifying`.
    ///
    /// None of them sees the deadline of that thread, which is the completing caller's (law 38).
    final func notifyAll(_ first: consuming Callback.Body?) {
        if Deadline.isSet {
            if let first { putBack(first) }
            return Deadline.without { notifyAll(nil) }
        }
        let outer = unsafe ec_tail_callee()
        callFirst(consume first)
        var tail = notifyQueue()
        // A chain is notified link by link in this loop, and does not nest.
        while let state = tail { tail = state.notifyQueue() }
        unsafe ec_set_tail_callee(outer)
    }

    /// A function of its own: with it `notifyQueue` would retain once more per link.
    @inline(never)
    private final func callFirst(_ first: consuming Callback.Body?) {
        guard let first else { return }
        unsafe Frame.enter(identity) { first(self) }
    }

    /// Notifies the queue in order; returns the last state if that must notify its own queue next.
    ///
    /// The thread's tail is the subscriber that is being notified. It is set here before each
    /// notification. A subscriber that completes in its notification clears it in `becomesTail`,
    /// and leaves its own queue to this loop. `notifyAll` restores the tail of an outer loop.
    private final func notifyQueue() -> FutureState? {
        var tail: FutureState?
        unsafe Frame.enter(identity) {
            while let subscriber = next() {
                // It was not the last: its own queue goes before the subscribers that came later.
                if let state = tail.take() { BoundedNesting.notify(by: state) }
                unsafe ec_set_tail_callee(subscriber.address)
                subscriber.notify(by: self)
                if unsafe ec_tail_callee() == nil {
                    tail = unsafe unsafeDowncast(subscriber, to: FutureState.self)
                }
            }
        }
        return tail
    }

    /// Leaves notification to the loop on this thread that notifies this; false if there is none.
    private final func becomesTail() -> Bool {
        guard unsafe ec_tail_callee() == address else { return false }
        ec_set_tail_callee(nil)
        return true
    }

    private final func next() -> FutureSubscriber? {
        lock.lock()
        defer { lock.unlock() }
        let subscriber = unsafe machine.next()
        if subscriber == nil { show() }
        return subscriber
    }

    /// Puts the first callback into the queue, because notification is deferred.
    final func putBack(_ first: @escaping Callback.Body) {
        let callback = Callback(first)
        lock.lock()
        unsafe machine.putBack(callback)
        lock.unlock()
    }

    /// The owner of the frame on the thread's stack while the subscribers are notified.
    final var identity: Frame.Owner { unsafe Frame.owner(self) }

    // Releasing: a thread that reads the phase sees the outcome. The compiler fence is needed
    // because the compiler may move a retain below a store.
    private final func show() {
        ec_compiler_fence()
        unsafe phase.store(machine.phase.rawValue, ordering: .releasing)
    }
}

/// The source of a future state: the one it was derived from, or the one it follows.
extension FutureState {
    /// Subscribes to its source; for a state that no other thread refers to yet.
    final func subscribe(to source: FutureState, _ propagation: @escaping Propagation) {
        unsafe self.propagation = propagation
        subscribe(to: source)
    }

    final func subscribe(to source: FutureState) {
        unsafe link = Unmanaged.passUnretained(source)
        source.addSubscriber(self)
    }

    /// The source, unless that is being freed; under the lock of this state, which is pending.
    final func source() -> FutureState? {
        // Its memory is allocated, see `link`, but its last reference may be gone.
        guard let link = unsafe link, let state = unsafe ec_try_retain(link.toOpaque()) else {
            return nil
        }
        return unsafe Unmanaged<FutureState>.fromOpaque(state).takeRetainedValue()
    }

    /// Completes it like another state, once that has completed. `copy` knows the value type.
    @usableFromInline
    final func follow(_ other: FutureState, _ copy: @escaping Propagation) {
        guard other !== self else { return _ = complete(throwing: AsyncError.waitsForItself) }
        if unsafe isUniquelyReferenced, let follower = onlyFollower() {
            return follower.move(to: other)
        }
        guard lockIfPending() else { return other.cancelIfUnwanted() }
        unsafe propagation = copy
        unsafe link = Unmanaged.passUnretained(other)
        lock.unlock()
        other.addFollower(self)
    }

    /// Takes the only subscriber out of the queue, if that is a state which may be moved.
    ///
    /// For a state that only its caller refers to: its follower follows the next state instead, so
    /// that a function which calls itself through `flatMap` does not keep one state for each call.
    private final func onlyFollower() -> FutureState? {
        lock.lock()
        defer { lock.unlock() }
        let subscriber = unsafe machine.removeOnly { ($0 as? FutureState)?.isMovable ?? false }
        return subscriber.map { unsafe unsafeDowncast($0, to: FutureState.self) }
    }

    /// Subscribes to the state that its former source follows.
    private final func move(to other: FutureState) {
        guard other !== self else { return _ = complete(throwing: AsyncError.waitsForItself) }
        guard lockIfPending() else {
            // Cancelled while it was in no queue: this thread owns the propagation.
            freePropagation()
            return other.cancelIfUnwanted()
        }
        unsafe link = Unmanaged.passUnretained(other)
        lock.unlock()
        other.addFollower(self)
    }

    /// Takes out the propagation, and runs it unless this state has completed.
    final func propagate(_ source: FutureState) {
        let propagation = unsafe propagation.take()
        if isPending { propagation?(source, self) }
    }

    /// The source, while this is pending and has exactly one.
    final var awaited: FutureState? { whilePending { source() } }

    /// A source that must complete first, and the subscriber in its queue.
    struct Dependency {
        let subscriber: FutureSubscriber
        let source: FutureState
    }
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
