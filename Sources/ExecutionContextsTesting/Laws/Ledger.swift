internal import ExecutionContexts
internal import Synchronization

/// Keeps account of closures: how often each ran, and whether the context has let go of it.
///
/// A closure that was let go of cannot run any more, so that is the event to wait for: it settles both a
/// dropped closure and a doubled one, without a guess about time.
final class Ledger: Sendable {
    private let fates = Locked<[Fate]>([])
    private let released = Signal()

    /// What became of one closure.
    final class Fate: Sendable {
        private let runCount = Atomic<Int>(0)
        private let isGone = Atomic<Bool>(false)

        // Relaxed: a count orders nothing, or the order that a context owes could not be seen to be missing.
        var runs: Int { runCount.load(ordering: .relaxed) }
        fileprivate func run() { runCount.add(1, ordering: .relaxed) }

        // Acquiring and releasing: who sees that the closure is gone also sees its last count.
        var isReleased: Bool { isGone.load(ordering: .acquiring) }
        fileprivate func release() { isGone.store(true, ordering: .releasing) }
    }

    /// What a closure captures: it dies with it.
    private final class Token: Sendable {
        let fate: Fate
        private let released: Signal

        init(_ fate: Fate, _ released: Signal) {
            self.fate = fate
            self.released = released
        }

        deinit {
            fate.release()
            released.happen()
        }
    }

    /// A closure to give to a context, which must be kept nowhere else.
    func piece(_ body: @escaping Work = {}) -> Work { open(body).work }

    /// Makes a closure, gives it away and returns its account.
    @discardableResult
    func give(_ body: @escaping Work = {}, to submit: (_ work: @escaping Work) -> Void) -> Fate {
        let (work, fate) = open(body)
        submit(work)
        return fate
    }

    private func open(_ body: @escaping Work) -> (work: Work, fate: Fate) {
        let fate = Fate()
        fates.withLock { $0.append(fate) }
        let token = Token(fate, released)
        let work: Work = {
            token.fate.run()
            body()
        }
        return (work, fate)
    }

    /// Waits until the context has let go of all pieces so far, and returns what became of them.
    func close(_ trial: Trial) -> [Fate] {
        let all = fates.withLock { fates in
            defer { fates = [] }
            return fates
        }
        _ = trial.wait(for: released, count: all.count)
        return all
    }

    /// Waits until the context has let go of all pieces so far, and reports those that did not run once.
    ///
    /// - Returns: whether each has run once and is gone.
    @discardableResult
    func settle(_ trial: Trial) -> Bool {
        let all = close(trial)
        report(
            all, where: { $0.runs == 0 && $0.isReleased }, trial, 1, "let go of", "without running them",
            "Run each closure that execute is given; a context that may refuse says so with tryExecute.")
        report(
            all, where: { $0.runs == 0 && !$0.isReleased }, trial, 1, "still has not run", "",
            "Run each closure that execute is given, and wait for nothing else before it.")
        report(
            all, where: { $0.runs > 1 }, trial, 1, "ran", "more than once",
            "Run each closure that execute is given once.")
        report(
            all, where: { $0.runs > 0 && !$0.isReleased }, trial, 10, "keeps",
            "after it has run them",
            "Let go of a closure right after running it, with everything that it captured.")
        return all.allSatisfy { $0.runs == 1 && $0.isReleased }
    }

    private func report(
        _ all: [Fate], where isWrong: (Fate) -> Bool, _ trial: Trial, _ law: Int, _ verb: String,
        _ ending: String, _ remedy: String
    ) {
        let count = all.count(where: isWrong)
        guard count > 0 else { return }
        let pieces = "\(count) of \(all.count) pieces of work"
        trial.report(law, [verb, pieces, ending].filter { !$0.isEmpty }.joined(separator: " "), remedy)
    }
}
