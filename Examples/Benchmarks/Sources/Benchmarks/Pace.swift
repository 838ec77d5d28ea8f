import Foundation

/// The speed of the machine while a suite runs: other programs may use its processors, too.
///
/// The times of two runs are comparable only where their paces are alike.
struct Pace {
    private let before = Self.lockTime()

    /// Adds the slower of the paces before and after the suite.
    func report(_ bench: Bench) {
        bench.figure(
            "the machine's pace: a free lock of the system, ns",
            max(before, Self.lockTime()).formatted(1))
    }

    /// Nanoseconds to lock and unlock an uncontended lock: the median of several rounds.
    private static func lockTime() -> Double {
        let (lock, count) = (NSRecursiveLock(), 200_000)
        let rounds = (0..<9).map { _ in
            Double(
                time {
                    for _ in 0..<count {
                        lock.lock()
                        lock.unlock()
                    }
                })
        }
        return rounds.median / Double(count)
    }
}
