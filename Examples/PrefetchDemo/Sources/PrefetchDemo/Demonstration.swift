/// Measures and explains. Returns one message for each count that is not the expected one.
func demonstrate(isQuick: Bool) throws -> [String] {
    let counts = [1, 4, 20, 100]
    let pictures = try PictureFolder(count: counts.max()!)
    print(
        """
        A prefetcher, an image pipeline and a data loader are each confined to an injected serial context.
        Both rows run the same code: in one row each component has a private context, in the other all
        share one. A submission is a job that enters one of these contexts. Each context is a dispatch
        queue.
        """)
    print(
        CountedContext.hasEntries
            ? "Submissions are counted by an observer of the contexts, and again at Dispatch's functions."
            : "Submissions are counted by an observer of the contexts; at Dispatch they are on Linux only."
    )

    try explain(with: pictures)

    var faults = try Comparison.warm(pictures, rounds: isQuick ? 11 : 101).run(counts)
    print(
        """

        With private contexts, the prefetcher enters its own context once, the pipeline's N times, and its
        own N times more, for the completions. On a shared context there is only the first submission: the
        other calls run inline in the same job. The price is a longer job, which occupies the context for
        all N images. Times are medians. The caller's time is that of one call, which does not block. If it
        is close to the wall time, the system has run the thread that the call woke before it continued the
        caller.
        """)
    faults += try Comparison.cold(pictures, rounds: isQuick ? 3 : 9).run(counts)
    print(
        """

        In both arrangements each image returns to the contexts from the background three times: from the
        disk cache, from its file and from decoding. That is 3N. Private contexts add, to the 1 + 2N above,
        N for the pipeline's calls of the loader and N for the loader's results. On a shared context a call
        of a component runs inline, unless an earlier job waits. How often one waits differs from run to
        run, as does how many results are ready before a component subscribes to them.
        """)
    return faults
}

/// Explains why a shared context shortens a prefetch from files so little, and shows it.
private func explain(with pictures: PictureFolder) throws {
    // The first one also starts threads, which the others reuse.
    _ = try RecordedPrefetch(.apart, of: pictures)
    let recorded = try Arrangement.allCases.map { try RecordedPrefetch($0, of: pictures) }
    print(
        """

        First of all: for images that are in no cache, expect little of a shared context. They are looked up,
        read, decoded and resized, two at a time, which takes most of the time and is the same in both
        arrangements. A shared context saves a part of the rest, the jobs of the contexts, and these run
        beside the work on images. Two recorded prefetches of \(pictures.paths.count) images:

        """)
    for prefetch in recorded { print("  " + prefetch.line) }
    print("\nTheir timelines, for any browser:\n")
    for prefetch in recorded { print("  " + (try prefetch.writeTimeline())) }
}
