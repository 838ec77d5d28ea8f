internal import CPlatform

/// What one thread has deferred; a thread-local pointer refers to it until it has run.
///
/// The order is:
/// 1. Subscribers are notified, in order.
/// 2. States without interested subscribers are cancelled.
/// 3. The rest runs, in order: releases after completion, handlers of cancelled promises, lazy
///    futures that begin, and frees.
@usableFromInline
@safe struct DeferredCalls: ~Copyable {
    private var toNotify = CompletedSources()
    private var toCancel: [FutureState] = []
    private var others = FIFO<Other>()

    private enum Other {
        case release(FutureState)
        case call([Work])
        case free(Any)
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

    static func append(toFree thing: Any) { unsafe mine.pointee.others.append(.free(thing)) }

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
        case .free: break
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
