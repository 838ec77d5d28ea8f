internal import Dispatch

/// A view that can run jobs without its base.
///
/// It is for the jobs of tasks and actors, which cannot be dropped (law 13).
protocol IndependentView: ExecutionContext {
    /// Runs `work` in order, even if the base drops its drain.
    func executeWithoutBase(_ work: @escaping Work)
}

extension SerialView: IndependentView {
    func executeWithoutBase(_ work: @escaping Work) {
        // Marks a drain as requested, but requests none: the base might drop it. The drain below
        // comes in its place, and also in place of one that the base drops.
        _ = post(work)
        DispatchQueue.global().async { self.drain() }
    }
}
