internal import Dispatch

/// A view that can run work without its base: for the jobs of tasks and actors, which cannot be
/// dropped (law 13).
protocol IndependentView: ExecutionContext {
    /// Runs `work` in its turn on a thread of the system.
    func executeWithoutBase(_ work: @escaping Work)
}

extension SerialView: IndependentView {
    func executeWithoutBase(_ work: @escaping Work) {
        // The base may lose the drain that this asks for, or one that is under way; the one below
        // comes.
        _ = post(work)
        DispatchQueue.global().async { self.drain() }
    }
}
