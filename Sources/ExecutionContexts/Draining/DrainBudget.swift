/// How long a drain may hold its thread before it lets its neighbours have a turn.
struct DrainBudget {
    private var pieces = 0
    private var start: Int64?

    /// Counts a piece; true when 256 are done or about a millisecond has passed.
    mutating func spend() -> Bool {
        pieces += 1
        // The clock costs as much as a small piece of work, so it is asked at every eighth, and also early on, for
        // pieces that are slow; a drain of a single piece never asks.
        guard pieces & 7 == 0 || pieces == 2 || pieces == 4 else { return false }
        let now = Seam.now
        guard let start else {
            self.start = now
            return false
        }
        return pieces >= 256 || now - start > 1_000_000
    }
}
