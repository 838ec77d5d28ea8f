/// Measures and explains; gives what was not as claimed.
func demonstrate(isQuick: Bool) throws -> [String] {
    let counts = [1, 4, 20, 100]
    let pictures = try PictureFolder(count: counts.max()!)
    print(
        """
        A prefetcher, an image pipeline and a data loader, each confined to a serial context that it is given. The code is
        the same in both rows: in one each has a context of its own, in the other all share one. A submission is a piece of
        work that enters one of these contexts, each of which is a dispatch queue.
        """)
    print(
        CountedContext.hasEntries
            ? "Submissions are counted by an observer of the contexts, and once more at the door of Dispatch itself."
            : "Submissions are counted by an observer of the contexts; not at Dispatch's own door, which is done on Linux only."
    )

    var faults = try Comparison.warm(pictures, rounds: isQuick ? 11 : 101).run(counts)
    print(
        """

        With private contexts the prefetcher enters its own once, the pipeline's N times, and its own N times more, for the
        completions. On a shared one the first of these is the only one: the others happen in the same piece of work. It
        is a longer piece, and that is the price: it keeps the context for all N. Times are medians. The caller's is that
        of one call, which does not wait: where it comes near the whole, the system has run what the call woke up first.
        """)
    faults += try Comparison.cold(pictures, rounds: isQuick ? 3 : 9).run(counts)
    print(
        """

        Here each image comes back to the contexts from the background in both arrangements: from the disk cache, from its
        file and from decoding, 3N. Private contexts add, to the 1 + 2N above, N for the pipeline's calls of the loader and
        N for its answers. On the shared one a call of a component is done on the spot, unless something waits that
        must come before it: how often that is so differs from run to run, as does how much is ready before anybody
        could wait for it. Files are read, decoded and made smaller by two at a time, and the times are mostly theirs.
        """)
    return faults
}
