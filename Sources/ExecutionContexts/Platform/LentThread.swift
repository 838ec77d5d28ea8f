internal import CPlatform

/// Whoever has lent the calling thread for a while, and makes room for others when it waits.
///
/// A class, since the thread keeps its address, and the way from there must be short: the library's own waits ask.
@safe class LentThread: @unchecked Sendable {
    // Unchecked because it can be inherited from, and for a pointer that is compared and never
    // followed.

    /// On whose behalf it lends threads, if that matters.
    final let owner: UnsafeRawPointer?

    /// How a thread goes on after it has waited.
    enum Return {
        /// Only when there is room for it: it has nothing that others wait for, as far as the
        /// library knows.
        case whenThereIsRoom
        /// At once: it has, or is about to have, a lock that others may wait for.
        case atOnce
    }

    init(for owner: UnsafeRawPointer?) { unsafe self.owner = owner }

    /// The calling thread is about to sleep until another one wakes it.
    func beginWait() {}

    /// It has been woken. May sleep once more, until there is room for the thread.
    func endWait(_ return: Return) {}

    /// The calling thread may sleep for a while, or not at all: nobody can tell beforehand.
    func beginCall() {}

    /// It has come back.
    func endCall() {}

    /// Who has lent the calling thread.
    static var current: LentThread? {
        guard let current = unsafe ec_lender() else { return nil }
        return unsafe Unmanaged<LentThread>.fromOpaque(current).takeUnretainedValue()
    }

    /// Runs `body`, which may put the calling thread to sleep.
    static func waiting<Value, Failure: Error>(
        then return: Return = .atOnce, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let current else { return try body() }
        current.beginWait()
        defer { current.endWait(`return`) }
        return try body()
    }

    /// Runs `body`, which waits for a queue of the system's, or does not have to.
    static func calling<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let current else { return try body() }
        current.beginCall()
        defer { current.endCall() }
        return try body()
    }

    /// Runs `body` with the calling thread lent by this one.
    final func occupy(_ body: () -> Void) {
        let outer = unsafe ec_lender()
        unsafe ec_set_lender(Unmanaged.passUnretained(self).toOpaque())
        body()
        unsafe ec_set_lender(outer)
    }
}
