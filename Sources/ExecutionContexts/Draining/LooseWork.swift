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
        words = unsafe withUnsafeMutablePointer(to: &piece) { piece in
            let words = unsafe UnsafeRawPointer(piece).load(as: ec_words.self)
            // What was there has been moved away: it is not destroyed.
            unsafe piece.initialize(to: Piece(work: {}))
            return words
        }
    }

    @inline(__always)
    package func assembled() -> Work {
        var words = words
        return unsafe withUnsafeMutablePointer(to: &words) { words in
            unsafe UnsafeMutableRawPointer(words).bindMemory(to: Piece.self, capacity: 1).move().work
        }
    }

    /// A closure in the shape in which it is called; see `WorkQueue`.
    private struct Piece {
        let work: Work
    }
}
