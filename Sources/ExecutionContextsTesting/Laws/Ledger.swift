internal import ExecutionContexts
internal import Synchronization

/// Records for each closure how often it ran, and whether the context has released it.
///
/// A released closure cannot run any more. So its release is the event to wait for: it reveals a
/// dropped closure and a doubled one without a guess about time.
final class Ledger: Sendable {
    private let fates = Locked<[Fate]>([])
    private let released = Signal()

    /// The record of one closure.
    final class Fate: Sendable {
        private let runCount = Atomic<Int>(0)
        private let isGone = Atomic<Bool>(false)

        // Relaxed: a count that ordered memory would hide an order that the context fails to
        // provide.
        var runs: Int { runCount.load(ordering: .relaxed) }
        fileprivate func run() { runCount.add(1, ordering: .relaxed) }

        // Acquiring and releasing: a thread that sees the release also sees the last count.
        var isReleased: Bool { isGone.load(ordering: .acquiring) }
        fileprivate func release() { isGone.store(true, ordering: .releasing) }
    }

    /// The object that a closure captures; its deinit records the release.
    private final class Capture: Sendable {
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

    /// Returns a closure for a context. The caller must not keep it.
    func job(_ body: @escaping Work = {}) -> Work { open(body).work }

    /// Creates a closure, passes it to `submit` and returns its record.
    @discardableResult
    func give(_ body: @escaping Work = {}, to submit: (_ work: @escaping Work) -> Void) -> Fate {
        let (work, fate) = open(body)
        submit(work)
        return fate
    }

    private func open(_ body: @escaping Work) -> (work: Work, fate: Fate) {
        let fate = Fate()
        fates.withLock { $0.append(fate) }
        let capture = Capture(fate, released)
        let work: Work = {
            capture.fate.run()
            body()
        }
        return (work, fate)
    }

    /// Waits until the context has released all closures so far, and returns their records.
    func close(_ trial: Trial) -> [Fate] {
        let all = fates.withLock { fates in
            defer { fates = [] }
            return fates
        }
        _ = trial.wait(for: released, count: all.count)
        return all
    }

    /// Waits until the context has released all closures so far, and reports those that did not run
    /// once.
    ///
    /// - Returns: whether each closure ran once and was released.
    @discardableResult
    func verify(_ trial: Trial) -> Bool {
        let all = close(trial)
        report(
            all, where: { $0.runs == 0 && $0.isReleased }, trial, 1, "dropped",
            "without running them",
            "Run each closure passed to execute; a context that may refuse does so in tryExecute."
        )
        report(
            all, where: { $0.runs == 0 && !$0.isReleased }, trial, 1, "still has not run", "",
            "Run each closure passed to execute, and wait for nothing else before it.")
        report(
            all, where: { $0.runs > 1 }, trial, 1, "ran", "more than once",
            "Run each closure passed to execute once.")
        report(
            all, where: { $0.runs > 0 && !$0.isReleased }, trial, 10, "keeps",
            "after it has run them",
            "Release a closure right after running it, with everything that it captured.")
        return all.allSatisfy { $0.runs == 1 && $0.isReleased }
    }

    private func report(
        _ all: [Fate], where isWrong: (Fate) -> Bool, _ trial: Trial, _ law: Int, _ verb: String,
        _ ending: String, _ remedy: String
    ) {
        let count = all.count(where: isWrong)
        guard count > 0 else { return }
        let jobs = "\(count) of \(all.count) jobs"
        trial.report(
            law, [verb, jobs, ending].filter { !$0.isEmpty }.joined(separator: " "), remedy)
    }
}
