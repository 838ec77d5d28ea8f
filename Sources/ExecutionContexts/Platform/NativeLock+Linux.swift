#if canImport(Glibc) || canImport(Musl) || canImport(Android)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Android
#endif

/// The lock that the operating system offers for a few instructions of exclusion.
///
/// Not `Synchronization.Mutex`: on the present Linux toolchain its futexes are invisible to the thread
/// sanitizer, which then reports races in correct code.
enum NativeLock {
    typealias Storage = pthread_mutex_t

    static func create(at storage: UnsafeMutablePointer<Storage>) {
        unsafe storage.initialize(to: Storage())
        let code = unsafe pthread_mutex_init(storage, nil)
        precondition(code == 0, "The system could not make a lock (code \(code)).")
    }

    @inline(__always)
    static func lock(_ storage: UnsafeMutablePointer<Storage>) {
        _ = unsafe pthread_mutex_lock(storage)
    }

    @inline(__always)
    static func unlock(_ storage: UnsafeMutablePointer<Storage>) {
        _ = unsafe pthread_mutex_unlock(storage)
    }

    static func destroy(_ storage: UnsafeMutablePointer<Storage>) {
        _ = unsafe pthread_mutex_destroy(storage)
        unsafe storage.deinitialize(count: 1)
    }
}
#endif
