internal import CPlatform

/// The values that one thread has of thread-locals without a key.
enum LocalTable {
    /// Frees the values of a thread that ends.
    static func clear(of thread: ThreadRecord) {}
}
