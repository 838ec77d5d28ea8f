internal import ExecutionContexts

// Law 1: a job runs exactly once, and each waiting caller gets an answer.
extension Laws {
    /// Checks that each job runs once, from several threads, by `execute` and by `enqueue`.
    static func once(_ context: some ExecutionContext, _ trial: Trial) {
        let ledger = Ledger()
        let haveReturned = trial.fromThreads(4) { _ in
            for _ in 0..<20 { context.execute(ledger.job()) }
            for _ in 0..<5 { context.enqueue(ledger.job()) }
        }
        guard haveReturned else {
            return trial.report(
                1, "did not return from execute",
                "Return when the work is queued, or, if it runs on the caller, when it has run."
            )
        }
        guard ledger.verify(trial) else { return }
        oneAnswer(context, trial)
    }

    /// Checks that a job is either run or refused: never both, and never neither.
    static func oneAnswer(_ context: some ExecutionContext, _ trial: Trial) {
        for _ in 0..<5 {
            let ledger = Ledger()
            let refusals = Locked(0)
            let fate = ledger.give {
                context.execute($0, refused: { _ in refusals.withLock { $0 += 1 } })
            }
            _ = ledger.close(trial)
            let answers = fate.runs + refusals.withLock { $0 }
            if answers != 1 {
                return trial.report(
                    1, "ran work \(fate.runs) times and refused it \(answers - fate.runs) times",
                    "In execute(_:refused:) either run the work once or call refused once.")
            }
        }
    }

    /// Checks that `run` and `submit` return or throw the body's result.
    static func resolves(_ context: some ExecutionContext, _ trial: Trial) {
        expect("run", of: 42, trial) { try await context.run { 42 } }
        expect("run", of: nil, trial) { try await context.run { throw Thrown() } }
        expect("submit", of: 42, trial) { try await context.submit { 42 }.get() }
        expect("submit", of: nil, trial) { try await context.submit { throw Thrown() }.get() }
    }

    /// Calls `body` and compares its result; nil means the error that the body throws.
    private static func expect(
        _ call: String, of value: Int?, _ trial: Trial,
        _ body: @escaping @Sendable () async throws -> Int
    ) {
        let end = Signal()
        let answer = Locked<Result<Int, any Error>?>(nil)
        startTask {
            let result: Result<Int, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            answer.withLock { $0 = result }
            end.happen()
        }
        guard trial.wait(for: end) else {
            return trial.report(
                1, "left a caller of \(call) waiting", "Run each closure passed to execute.")
        }
        switch answer.withLock({ $0 }) {
        case .success(value)? where value != nil: return
        case .failure(is Thrown)? where value == nil: return
        case let other:
            trial.report(
                1, "answered a call of \(call) with \(other.map { "\($0)" } ?? "nothing")",
                "Run each closure passed to execute, once.")
        }
    }

    private struct Thrown: Error {}

    /// Checks that a job accepted by `tryExecute` runs once, and that a refused one does not run.
    static func refuses(_ context: some RefusingContext, _ trial: Trial) {
        for _ in 0..<20 {
            let ledger = Ledger()
            var isAccepted = true
            let fate = ledger.give { work in
                do { try context.tryExecute(work) } catch { isAccepted = false }
            }
            if isAccepted {
                guard ledger.verify(trial) else { return }
            } else if fate.runs > 0 {
                trial.report(
                    1, "ran work that it had refused", "Throw from tryExecute, or run the work.")
            }
        }
    }

    /// Checks that `sync` runs its body once, before it returns.
    static func waits(_ context: some SynchronousContext, _ trial: Trial) {
        let runs = Locked(0)
        let values = Locked<[Int]>([])
        let haveReturned = trial.fromThreads(2) { _ in
            for _ in 0..<5 {
                let value = context.sync {
                    runs.withLock { $0 += 1 }; return 42
                }
                values.withLock { $0.append(value) }
                do throws(Thrown) {
                    try context.sync { () throws(Thrown) in throw Thrown() }
                } catch {
                    values.withLock { $0.append(42) }
                }
            }
        }
        let (count, results) = (runs.withLock { $0 }, values.withLock { $0 })
        if !haveReturned || count != 10 || results != Array(repeating: 42, count: 20) {
            trial.report(
                1, "ran \(count) of 10 bodies of sync, and \(results.count) of 20 calls returned",
                "Run the body of sync once, and return or throw its result.")
        }
    }
}
