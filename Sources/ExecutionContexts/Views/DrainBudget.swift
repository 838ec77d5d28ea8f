/// How long a drain may keep its thread before it yields to other work of its base.
package struct DrainBudget {
    private var jobs = 0
    private var start: Int64?

    package init() {}

    /// Counts a job; true after 256 jobs or about a millisecond.
    package mutating func spend() -> Bool {
        jobs += 1
        // Reading the clock costs as much as a small job. So it is read at every eighth job, and
        // after two and four jobs, which may be slow. A drain of one job never reads it.
        guard jobs & 7 == 0 || jobs == 2 || jobs == 4 else { return false }
        let now = SimulationHooks.now
        guard let start else {
            self.start = now
            return false
        }
        return jobs >= 256 || now - start > 1_000_000
    }
}
