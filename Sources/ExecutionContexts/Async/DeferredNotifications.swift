internal import CPlatform

/// What one thread has deferred; a thread-local pointer refers to it until it has run.
///
/// The order is:
/// 1. Subscribers are notified, in order.
/// 2. States without interested subscribers are cancelled.
/// 3. The rest runs, in order: releases after completion, handlers of cancelled promises, and
///    frees.
@usableFromInline
@safe struct DeferredNotifications: ~Copyable {
    private var toNotify = EndedSources()
    private var toCancel: [FutureState] = []
    private var others: [Other] = []
    private var othersDone = 0

    private enum Other {
        case finish(FutureState)
        case call([Work])
        case free(Any)
    }

    private typealias Pointer = UnsafeMutablePointer<DeferredNotifications>

    static func append(toNotify state: FutureState) { unsafe mine.pointee.toNotify.append(state) }

    static func append(toCancel state: FutureState) { unsafe mine.pointee.toCancel.append(state) }

    static func append(toFinish state: FutureState) {
        unsafe mine.pointee.others.append(.finish(state))
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
            } else if let other = unsafe deferred.pointee.nextOther() {
                perform(other)
            } else {
                ec_set_deferred(nil)
                unsafe deferred.deinitialize(count: 1)
                unsafe deferred.deallocate()
            }
        }
    }

    private static func perform(_ other: consuming Other) {
        switch consume other {
        case .finish(let state): state.didEnd()
        case .call(let handlers): for handler in handlers { handler() }
        case .free: break
        }
    }

    private mutating func nextOther() -> Other? {
        guard othersDone < others.count else { return nil }
        // Moved out, so that nothing is freed in here, and each is freed right after it has run.
        var next = Other.call([])
        swap(&next, &others[othersDone])
        othersDone += 1
        if othersDone == others.count {
            others.removeAll(keepingCapacity: othersDone <= 64)
            othersDone = 0
        }
        return next
    }

    private static var current: Pointer? {
        unsafe ec_deferred()?.assumingMemoryBound(to: DeferredNotifications.self)
    }

    private static var mine: Pointer {
        if let deferred = unsafe current { return unsafe deferred }
        let deferred = Pointer.allocate(capacity: 1)
        unsafe deferred.initialize(to: DeferredNotifications())
        unsafe ec_set_deferred(deferred)
        return unsafe deferred
    }
}
