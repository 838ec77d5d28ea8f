import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Histories of real threads and tasks.
@Suite(.patient)
struct ThreadHistoryTests {
    /// Runs `body` on `count` threads, and resumes when all have ended.
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
        await withTaskGroup { group in
            for index in 0..<count {
                group.addTask {
                    await withCheckedContinuation {
                        (continuation: CheckedContinuation<Void, Never>) in
                        Thread {
                            body(index)
                            continuation.resume()
                        }.start()
                    }
                }
            }
        }
    }

    @Test func `Ten thousand operations on a registry are checked key by key`() async throws {
        let registry = LockedResource([Int: Int](), lockedBy: .section)
        let history = History(of: MapModel())
        await onThreads(4) { thread in
            var random = SeededRNG(seed: UInt64(thread))
            for step in 0..<2_500 {
                let key = Int.random(in: 0..<64, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: history.record(.get(key)) { registry.read { $0[key] } }
                case 1:
                    history.record(.put(key, step)) {
                        registry.mutate { $0.updateValue(step, forKey: key) }
                    }
                default:
                    history.record(.remove(key)) { registry.mutate { $0.removeValue(forKey: key) } }
                }
            }
        }
        let start = ContinuousClock.now
        try expectLinearizable(history, partitionedBy: \.key)
        print("10,000 operations by 64 keys: checked in \(ContinuousClock.now - start)")
    }

    @Test func `Ten thousand operations on a counter are checked as a whole`() async throws {
        let count = LockedResource(0, lockedBy: .section)
        let history = History(of: CounterModel())
        await onThreads(4) { _ in
            for _ in 0..<2_500 {
                history.record(1) {
                    count.mutate { count in
                        count += 1
                        return count
                    }
                }
            }
        }
        let start = ContinuousClock.now
        try expectLinearizable(history)
        print("10,000 operations on one counter: checked in \(ContinuousClock.now - start)")
    }

    @Test func `A lost update among a thousand operations is shown with few of them`() async throws
    {
        let history = History(of: CounterModel())
        let count = LockedResource(0, lockedBy: .section)
        await onThreads(4) { _ in
            for _ in 0..<250 {
                history.record(1) {
                    count.mutate { count in
                        // Loses the update after the 700th.
                        if count != 700 { count += 1 }
                        return count == 700 ? 701 : count
                    }
                }
            }
        }
        let error = try #require(throws: HistoryFailure.self) { try expectLinearizable(history) }
        print(error)
        #expect(error.threads.count <= 5, "\(error)")
    }

    @Test func `Awaited operations of tasks are recorded, each task in a row of its own`()
        async throws
    {
        actor Register {
            private var value = 0
            func read() -> Int { value }
            func write(_ new: Int) { value = new }
        }
        let register = Register()
        let history = History(of: RegisterModel())
        await withTaskGroup { group in
            for index in 0..<4 {
                group.addTask {
                    await history.recordAsync(.write(index)) { await register.write(index) }
                    await history.recordAsync(.read) { await register.read() }
                }
            }
        }
        try expectLinearizable(history)
        await history.recordAsync(.read) { await register.read() + 10 }
        let error = try #require(throws: HistoryFailure.self) { try expectLinearizable(history) }
        #expect(error.threads.allSatisfy { $0.hasPrefix("task ") }, "\(error)")
    }
}
