internal import CPlatform

/// The source of a future state: the one it was derived from, or the one it follows.
extension FutureState {
    /// Subscribes to its source; for a state that no other thread refers to yet.
    final func subscribe(to source: FutureState, _ propagation: @escaping Propagation) {
        unsafe self.propagation = propagation
        subscribe(to: source)
    }

    /// Subscribes to its source; for a state that no other thread refers to yet.
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
    /// For a state that only its caller refers to, and that is to complete like another one. Its
    /// follower subscribes to that other one instead, and this one is freed. So a function that
    /// calls itself through `flatMap` does not keep one state for each call.
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
            // It was cancelled while it was in no queue. The cancelling thread could not remove it,
            // so this thread owns the propagation.
            freePropagation()
            return other.cancelIfUnwanted()
        }
        unsafe link = Unmanaged.passUnretained(other)
        unlock()
        other.addFollower(self)
    }

    /// Takes out the propagation, and runs it unless this state has completed.
    final func propagate(_ source: FutureState) {
        let propagation = unsafe propagation.take()
        if isPending { propagation?(source, self) }
    }

    /// Clears the link to a source that has notified this state and may be freed.
    final func forget(_ source: FutureState) {
        guard lockIfPending() else { return }
        if unsafe link?.toOpaque() == Unmanaged.passUnretained(source).toOpaque() {
            unsafe link = nil
        }
        lock.unlock()
    }

    /// The source, while this is pending and has exactly one.
    final var awaited: FutureState? {
        lock.lock()
        defer { lock.unlock() }
        return unsafe machine.phase == .pending ? source() : nil
    }

    /// A source that must complete first, and the subscriber in its queue.
    struct Dependency {
        let subscriber: FutureSubscriber
        let source: FutureState
    }
}
