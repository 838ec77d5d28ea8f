internal import CPlatform

/// Whoever has lent the calling thread for a while, and wants to know when it waits.
///
/// A class, since the thread keeps its address, and the way from there must be short: the library's own waits ask.
class LentThread: @unchecked Sendable {
    // Unchecked because it can be inherited from; it has no state of its own.

    init() {}

    /// The calling thread is about to sleep until another one wakes it.
    func beginWait() {}

    /// It goes on.
    func endWait() {}

    /// Who has lent the calling thread.
    static var current: LentThread? {
        guard let current = unsafe ec_lender() else { return nil }
        return unsafe Unmanaged<LentThread>.fromOpaque(current).takeUnretainedValue()
    }

    /// Runs `body`, which may put the calling thread to sleep.
    static func waiting<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let current else { return try body() }
        current.beginWait()
        defer { current.endWait() }
        return try body()
    }
}
