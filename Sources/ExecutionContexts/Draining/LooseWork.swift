package import CPlatform

/// A piece of work taken apart into its two words.
///
/// It carries the one count that it came with and costs none of its own, on its way from who submits to who runs it. So it is put
/// together again exactly once, by whoever has it in the end.
@safe package struct LooseWork {
    package let words: ec_words

    /// For words that another piece was taken apart into, and which are the caller's now.
    @inline(__always)
    package init(words: ec_words) { self.words = words }

    @inline(__always)
    package init(_ work: consuming @escaping Work) {
        var piece = Piece(work: work)
        words = unsafe withUnsafeMutablePointer(to: &piece) { unsafe ec_words_out_of($0) }
    }

    @inline(__always)
    package func assembled() -> Work {
        unsafe withUnsafeTemporaryAllocation(of: Piece.self, capacity: 1) { memory in
            let piece = unsafe memory.baseAddress.unsafelyUnwrapped
            unsafe ec_words_into(piece, words)
            // Not the closure itself: what goes through a generic function comes back in a thunk.
            return unsafe piece.move()
        }.work
    }

    /// A closure in the shape in which it is called; see `WorkQueue`.
    private struct Piece {
        let work: Work
    }
}
