internal import Dispatch

/// A view that can run jobs without its base.
///
/// It is for the jobs of tasks and actors, which cannot be dropped (law 13).
protocol IndependentView: ExecutionContext {
    /// Runs `work` in order, on a thread of the system.
    func executeWithoutBase(_ work: @escaping Work)
}

extension SerialView: IndependentView {
    func executeWithoutBase(_ work: @escaping Work) {
        // The base may drop the drain that this requests, or one that is under way. The drain below
        // always comes.
        _ = post(work)
        DispatchQueue.global().async { self.drain() }
    }
}
