internal import CPlatform

/// Frees things that may each be the last to refer to the next one, a million of them in a row, without recursion.
enum Freeing {
    private typealias Waiting = UnsafeMutablePointer<[Any]>

    /// Frees `thing`, which the caller gives away: at once, or when this thread has freed what it is freeing.
    static func free<Thing>(_ thing: consuming Thing) {
        if let waiting = unsafe ec_freeing()?.assumingMemoryBound(to: [Any].self) {
            return unsafe waiting.pointee.append(thing)
        }
        let waiting = Waiting.allocate(capacity: 1)
        unsafe waiting.initialize(to: [])
        unsafe ec_set_freeing(waiting)
        _ = consume thing
        // Taken out first: what is freed may append to the array.
        while unsafe takeLast(of: waiting) != nil {}
        ec_set_freeing(nil)
        unsafe waiting.deinitialize(count: 1)
        unsafe waiting.deallocate()
    }

    /// Freed by the caller, when the array is not in use any more.
    private static func takeLast(of waiting: Waiting) -> Any? { unsafe waiting.pointee.popLast() }
}
