public import CPlatform

/// Bounds how deep callbacks and cancelling nest on one thread; `DeferredCalls` has what is deeper,
/// and `Freeing` does the same for what is freed.
///
/// These can recurse without bound, a million levels deep:
/// - A callback completes a promise, whose callbacks complete the next promise, and so on.
/// - Cancelling runs up a chain, and handlers of `onCancel` cancel states that have handlers.
/// - A lazy future begins, and follows another lazy one, which begins, and so on.
///
/// Unbounded nesting would overflow the stack, and moving the calls elsewhere would change the
/// thread (law 25). So a few levels nest, as with `.immediate`, and deeper calls are deferred and
/// run one after the other, on the same thread.
@usableFromInline
enum BoundedNesting {
    @usableFromInline static let deepest: UInt32 = 32

    /// Notifies the subscribers of `state`, the first callback first.
    @inline(__always)
    static func notify(by state: FutureState, _ first: consuming Callback.Body? = nil) {
        guard descend() else {
            if let first { state.putBack(first) }
            return DeferredCalls.append(toNotify: state)
        }
        state.notifyAll(consume first)
        ascend()
    }

    /// Cancels `state`, which has no interested subscriber left.
    static func cancel(_ state: FutureState) {
        guard descend() else { return DeferredCalls.append(toCancel: state) }
        _ = state.cancel()
        ascend()
    }

    /// Begins `state`, a lazy one whose first subscriber has arrived.
    static func begin(_ state: FutureState) {
        guard descend() else { return DeferredCalls.append(toCall: [{ state.begin() }]) }
        // The subscribers that arrive later share what it begins (law 38).
        Deadline.without { state.begin() }
        ascend()
    }

    /// Makes `state`, which has notified its subscribers, release what it holds until completion.
    static func release(by state: FutureState) {
        guard descend() else { return DeferredCalls.append(toRelease: state) }
        state.didComplete()
        ascend()
    }

    /// Calls handlers of the user, and frees them.
    static func call(_ handlers: consuming [Work]) {
        guard descend() else { return DeferredCalls.append(toCall: handlers) }
        call(each: consume handlers)
        ascend()
    }

    /// Calls handlers of the user, which do not see the deadline of the caller (law 38).
    static func call(each handlers: consuming [Work]) {
        let handlers = handlers
        Deadline.without { for handler in handlers { handler() } }
    }

    /// Enters the next level; false at the deepest level.
    @inlinable @inline(__always)
    static func descend() -> Bool {
        let depth = ec_call_depth()
        guard depth < deepest else { return false }
        ec_set_call_depth(depth + 1)
        return true
    }

    /// Leaves a level; from the deepest one, first runs what was deferred there.
    @inlinable @inline(__always)
    static func ascend() {
        let depth = ec_call_depth()
        if depth == deepest { DeferredCalls.run() }
        ec_set_call_depth(depth - 1)
    }
}

/// What one thread has deferred; a thread-local pointer refers to it until it has run.
///
/// The order is:
/// 1. Subscribers are notified, in order.
/// 2. States without interested subscribers are cancelled.
/// 3. The rest runs, in order: releases after completion, handlers of cancelled promises, lazy
///    futures that begin.
@usableFromInline
@safe struct DeferredCalls: ~Copyable {
    private var toNotify = CompletedSources()
    private var toCancel: [FutureState] = []
    private var others = FIFO<Other>()

    private enum Other {
        case release(FutureState)
        case call([Work])
    }

    private typealias Pointer = UnsafeMutablePointer<DeferredCalls>

    static func append(toNotify state: FutureState) { unsafe mine.pointee.toNotify.append(state) }

    static func append(toCancel state: FutureState) { unsafe mine.pointee.toCancel.append(state) }

    static func append(toRelease state: FutureState) {
        unsafe mine.pointee.others.append(.release(state))
    }

    static func append(toCall handlers: [Work]) {
        unsafe mine.pointee.others.append(.call(handlers))
    }

    /// Runs what the calling thread has deferred, and what it defers meanwhile.
    @usableFromInline
    static func run() {
        // Looked up in each iteration: a deferred call that waits runs all others inside, and more
        // may be deferred after that.
        while let deferred = unsafe current {
            if let state = unsafe deferred.pointee.toNotify.removeFirst() {
                state.notifyAll(nil)
            } else if let state = unsafe deferred.pointee.toCancel.popLast() {
                _ = state.cancel()
            } else if let other = unsafe deferred.pointee.others.popFirst() {
                perform(other)
            } else {
                ec_set_deferred_calls(nil)
                unsafe deferred.deinitialize(count: 1)
                unsafe deferred.deallocate()
            }
        }
    }

    private static func perform(_ other: consuming Other) {
        switch consume other {
        case .release(let state): state.didComplete()
        case .call(let handlers): BoundedNesting.call(each: handlers)
        }
    }

    private static var current: Pointer? {
        unsafe ec_deferred_calls()?.assumingMemoryBound(to: DeferredCalls.self)
    }

    private static var mine: Pointer {
        if let deferred = unsafe current { return unsafe deferred }
        let deferred = Pointer.allocate(capacity: 1)
        unsafe deferred.initialize(to: DeferredCalls())
        unsafe ec_set_deferred_calls(deferred)
        return unsafe deferred
    }
}

/// Completed future states that have yet to notify their subscribers, in order: an intrusive list.
///
/// The list owns one reference to each state. A completed state has no source any more, so its
/// `link` holds the next one, and deferring it allocates nothing.
@safe private struct CompletedSources: ~Copyable {
    private var first: Unmanaged<FutureState>?
    private var last: Unmanaged<FutureState>?

    mutating func append(_ state: FutureState) {
        let state = unsafe Unmanaged.passRetained(state)
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.nextToNotify = state }
        } else {
            unsafe first = state
        }
        unsafe last = state
    }

    mutating func removeFirst() -> FutureState? {
        guard let state = unsafe first else { return nil }
        unsafe first = state._withUnsafeGuaranteedRef { unsafe $0.nextToNotify.take() }
        if unsafe first == nil { unsafe last = nil }
        return unsafe state.takeRetainedValue()
    }
}
