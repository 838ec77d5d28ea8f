internal import Dispatch

// A job of a task or an actor counts as accepted once its task or actor is: it runs, even on a view
// that refuses or drops other jobs.

extension ExecutionContext {
    /// Submits `work` past the views of this context that may refuse or drop it, with the
    /// decoration that they add.
    func executeAccepted(_ work: @escaping Work) {
        guard self is any RefusingContext else { return execute(work) }
        guard let view = self as? any ContextDecorator else { return enqueue(work) }
        view.passAccepted(work)
    }

    /// Submits `work` to the innermost serial view, which runs it without its base, with the
    /// decoration added on the way; false if there is no such view.
    func executeWithoutBase(_ work: @escaping Work) -> Bool {
        if let view = self as? any IndependentView {
            view.executeWithoutBase(work)
            return true
        }
        guard let view = self as? any ContextDecorator else { return false }
        return view.passWithoutBase(work)
    }
}

extension ContextDecorator {
    fileprivate func passAccepted(_ work: @escaping Work) {
        base.executeAccepted(decorateAccepted(work))
    }

    fileprivate func passWithoutBase(_ work: @escaping Work) -> Bool {
        base.executeWithoutBase(decorateAccepted(work))
    }

    private func decorateAccepted(_ work: @escaping Work) -> Work {
        self is any SkippingView ? work : decorate(work)
    }
}

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
