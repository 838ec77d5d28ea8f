#if os(Linux) || os(Android)
internal import CPlatform
internal import Synchronization

/// A lock inside the object that it guards, for objects that are made by the thousand.
struct EmbeddedLock: ~Copyable, Sendable {
    private let word = NativeLock.Storage(0)

    @inline(__always)
    borrowing func lock() {
        unsafe withUnsafePointer(to: word) { word in
            // An atomic word has one address for as long as it is, so a pointer to it may be kept meanwhile.
            let word = unsafe UnsafeMutablePointer(mutating: word)
            unsafe Seam.point(word, mode: ec_mode())
            unsafe NativeLock.lock(word)
        }
    }

    @inline(__always)
    borrowing func unlock() {
        unsafe withUnsafePointer(to: word) { unsafe NativeLock.unlock(UnsafeMutablePointer(mutating: $0)) }
    }
}
#endif
