public import CPlatform

/// Bounds how deep callbacks and cancelling nest on one thread, as `Freeing` does for frees.
///
/// These can recurse a million levels deep:
/// - A callback completes a promise, whose callbacks complete the next promise, and so on.
/// - Cancelling runs up a chain, and handlers of `onCancel` cancel states that have handlers.
/// - A lazy future begins, and follows another lazy one, which begins, and so on.
///
/// That would overflow the stack, and moving the calls elsewhere would change the thread (law 25).
/// So a few levels nest, and deeper calls run one after the other, later on the same thread.
@usableFromInline
enum BoundedNesting {
    @usableFromInline static let deepest: UInt32 = 32

    /// Notifies the subscribers of `state`, the first callback first.
    @inline(__always)
    static func notify(by state: FutureState, _ first: consuming Callback.Body? = nil) {
        guard descend() else {
            if let first { state.putBack(first) }
            return unsafe DeferredCalls.mine.pointee.toNotify.append(state)
        }
        state.notifyAll(consume first)
        ascend()
    }

    /// Cancels `state`, which has no interested subscriber left.
    static func cancel(_ state: FutureState) {
        guard descend() else { return unsafe DeferredCalls.mine.pointee.toCancel.append(state) }
        _ = state.cancel()
        ascend()
    }

    /// Begins `state`, a lazy one whose first subscriber has arrived.
    static func begin(_ state: FutureState) {
        guard descend() else { return DeferredCalls.append(.call([{ state.begin() }])) }
        // The subscribers that arrive later share what it begins (law 38).
        Deadline.without { state.begin() }
        ascend()
    }

    /// Makes `state`, which has notified its subscribers, release what it holds until completion.
    static func release(by state: FutureState) {
        guard descend() else { return DeferredCalls.append(.release(state)) }
        state.didComplete()
        ascend()
    }

    /// Calls handlers of the user, and frees them.
    static func call(_ handlers: consuming [Work]) {
        guard descend() else { return DeferredCalls.append(.call(handlers)) }
        call(each: consume handlers)
        ascend()
    }

    /// Calls handlers of the user, which do not see the deadline of the caller (law 38).
    fileprivate static func call(each handlers: consuming [Work]) {
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
/// 3. The rest runs, in order: releases after completion, handlers of cancelling, lazy begins.
@usableFromInline
@safe struct DeferredCalls: ~Copyable {
    fileprivate var toNotify = FIFO<FutureState>()
    fileprivate var toCancel: [FutureState] = []
    private var others = FIFO<Other>()

    fileprivate enum Other {
        case release(FutureState)
        case call([Work])
    }

    private typealias Pointer = UnsafeMutablePointer<DeferredCalls>

    fileprivate static func append(_ other: Other) { unsafe mine.pointee.others.append(other) }

    /// Runs what the calling thread has deferred, and what it defers meanwhile.
    @usableFromInline
    static func run() {
        // Looked up each time: a deferred call that waits runs all others, and defers more later.
        while let deferred = unsafe current {
            if let state = unsafe deferred.pointee.toNotify.popFirst() {
                state.notifyAll(nil)
            } else if let state = unsafe deferred.pointee.toCancel.popLast() {
                _ = state.cancel()
            } else if let other = unsafe deferred.pointee.others.popFirst() {
                switch consume other {
                case .release(let state): state.didComplete()
                case .call(let handlers): BoundedNesting.call(each: handlers)
                }
            } else {
                ec_set_deferred_calls(nil)
                unsafe deferred.deinitialize(count: 1)
                unsafe deferred.deallocate()
            }
        }
    }

    private static var current: Pointer? {
        unsafe ec_deferred_calls()?.assumingMemoryBound(to: DeferredCalls.self)
    }

    fileprivate static var mine: UnsafeMutablePointer<DeferredCalls> {
        if let deferred = unsafe current { return unsafe deferred }
        let deferred = Pointer.allocate(capacity: 1)
        unsafe deferred.initialize(to: DeferredCalls())
        unsafe ec_set_deferred_calls(deferred)
        return unsafe deferred
    }
}
