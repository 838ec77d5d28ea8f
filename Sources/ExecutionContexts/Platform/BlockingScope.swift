internal import CPlatform

/// Notifies the owner of a thread when the thread blocks, so that another thread can take over.
///
/// A class, because the thread stores its address. The look-up must be short: the library's own
/// waits make it.
@safe class BlockingScope: @unchecked Sendable {
    // Unchecked because the class can be inherited from, and because of a pointer that is compared
    // and never dereferenced.

    /// The address of the owner of the threads, if it matters.
    final let owner: UnsafeRawPointer?

    /// How a thread continues after a wait.
    enum Resumption {
        /// When the owner has room for the thread: it holds nothing that other threads wait for,
        /// as far as the library knows.
        case whenThereIsRoom
        /// At once: the thread has, or is about to have, a lock that other threads may wait for.
        case atOnce
    }

    init(for owner: UnsafeRawPointer?) { unsafe self.owner = owner }

    /// Called before the calling thread sleeps until another thread wakes it.
    func beginWait() {}

    /// Called after the wake-up. May sleep once more, until there is room for the thread.
    func endWait(_ resumption: Resumption) {}

    /// Called before a call that may or may not block.
    func beginCall() {}

    /// Called after that call.
    func endCall() {}

    /// The blocking scope of the calling thread.
    static var current: BlockingScope? {
        guard let current = unsafe ec_blocking_scope() else { return nil }
        return unsafe Unmanaged<BlockingScope>.fromOpaque(current).takeUnretainedValue()
    }

    /// Runs `body`, which may put the calling thread to sleep.
    static func waiting<Value, Failure: Error>(
        then resumption: Resumption = .atOnce, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let current else { return try body() }
        current.beginWait()
        defer { current.endWait(resumption) }
        return try body()
    }

    /// Runs `body`, which may wait for one of the system's queues.
    static func calling<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let current else { return try body() }
        current.beginCall()
        defer { current.endCall() }
        return try body()
    }

    /// Runs `body` with this scope as the calling thread's.
    final func occupy(_ body: () -> Void) {
        let outer = unsafe ec_blocking_scope()
        unsafe ec_set_blocking_scope(Unmanaged.passUnretained(self).toOpaque())
        body()
        unsafe ec_set_blocking_scope(outer)
    }
}
