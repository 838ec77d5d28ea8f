package import CPlatform

/// A closure that any thread may run, once.
public typealias Work = @Sendable () -> Void

/// A closure taken apart into its two words, which are not reference-counted.
///
/// It carries one reference from the submitter to the thread that runs it, and adds none. So its
/// last owner must assemble it exactly once. An owner that takes it apart again, as `OwnedWork`
/// does, is not the last one.
@safe package struct UnmanagedWork: Sendable {
    package let words: ec_words

    /// Adopts the words of another `UnmanagedWork`, which the caller owns.
    @inline(__always)
    package init(words: ec_words) { self.words = words }

    @inline(__always)
    package init(_ work: consuming @escaping Work) {
        // Known when this is compiled, so it costs nothing.
        if MemoryLayout<Storage>.size != MemoryLayout<ec_words>.size {
            stopMisuse(
                "A closure of this toolchain has \(MemoryLayout<Storage>.size) bytes and not two words. "
                    + "Take a version of ExecutionContexts that was made for the toolchain.")
        }
        var storage = Storage(work: work)
        words = unsafe withUnsafeMutablePointer(to: &storage) { unsafe ec_words_out_of($0) }
    }

    @inline(__always)
    package func assembled() -> Work {
        unsafe withUnsafeTemporaryAllocation(of: Storage.self, capacity: 1) { memory in
            let storage = unsafe memory.baseAddress.unsafelyUnwrapped
            unsafe ec_words_into(storage, words)
            // Not the closure itself: a closure that passes through a generic function comes back
            // in a thunk.
            return unsafe storage.move()
        }.work
    }

    /// A closure in the representation in which it is called; see `WorkQueue`.
    private struct Storage {
        let work: Work
    }
}

/// A closure that is called where it is stored: Swift would retain a stored closure for each call.
struct OwnedWork: ~Copyable, Sendable {
    private let work: UnmanagedWork

    /// Adopts the reference of `work`.
    init(_ work: UnmanagedWork) { self.work = work }

    // Frees the closure. Where no deinit runs, the closure stays, and nothing dangles.
    deinit { _ = work.assembled() }

    /// Calls the closure.
    @inline(__always)
    borrowing func run() {
        // Borrows this value's reference, and gives it back uncounted. The caller keeps this value,
        // also where the closure does not return: then the reference is not given back.
        let work = work.assembled()
        work()
        _ = UnmanagedWork(work)
    }
}
