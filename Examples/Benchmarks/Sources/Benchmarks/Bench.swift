import Dispatch
import Foundation

/// Runs two alternatives, round by round, and prints their medians and the ratio of these.
struct Bench {
    let isQuick: Bool
    /// The text that the name of a row must contain for the row to be measured.
    var only: String?

    var rounds: Int { isQuick ? 3 : 9 }

    /// Returns `full` operations, or a tenth of them in quick mode.
    func count(_ full: Int) -> Int { isQuick ? max(full / 10, 1) : full }

    func heading(_ title: String) {
        Results.shared.begin(title)
        print("\n\(title)")
        print(
            "  " + "".padded(46) + "ours ns".leftPadded(10) + "theirs ns".leftPadded(11)
                + "ratio".leftPadded(8)
                + "rounds from .. to".leftPadded(20) + "   bar")
    }

    /// Compares two closures, each of which performs `operations` operations and then returns.
    ///
    /// Returns the medians, in nanoseconds an operation, if the row is measured.
    @discardableResult
    func compare(
        _ name: String, operations: Int, bar: String = "", ours: () -> Void, theirs: () -> Void
    ) -> (ours: Double, theirs: Double)? {
        compareMeasured(
            name, operations: operations, bar: bar, ours: { time(ours) }, theirs: { time(theirs) })
    }

    /// Compares two closures, each of which returns the nanoseconds of its measured part.
    @discardableResult
    func compareMeasured(
        _ name: String, operations: Int, bar: String = "", ours: () -> UInt64, theirs: () -> UInt64
    ) -> (ours: Double, theirs: Double)? {
        if let only, !name.contains(only) { return nil }
        _ = ours()
        _ = theirs()
        var mine: [Double] = []
        var other: [Double] = []
        for round in 0..<rounds {
            // The order alternates, so that neither side always runs in the wake of the other.
            if round % 2 == 0 {
                mine.append(Double(ours()))
                other.append(Double(theirs()))
            } else {
                other.append(Double(theirs()))
                mine.append(Double(ours()))
            }
        }
        let ratios = zip(other, mine).map { $0 / $1 }.sorted()
        let perOperation = Double(operations)
        Results.shared.add(name, bar: bar, ours: mine, theirs: other, operations: operations)
        print(
            "  " + name.padded(46)
                + (mine.median / perOperation).formatted(1).leftPadded(10)
                + (other.median / perOperation).formatted(1).leftPadded(11)
                + ratios.median.formatted(2).leftPadded(8)
                + "\(ratios.first!.formatted(2)) .. \(ratios.last!.formatted(2))".leftPadded(20)
                + "   \(bar)")
        return (mine.median / perOperation, other.median / perOperation)
    }

    /// Prints a figure that is not a time.
    func figure(_ name: String, _ value: String, bar: String = "") {
        if let only, !name.contains(only) { return }
        Results.shared.add(name, bar: bar, figure: value)
        print("  " + name.padded(46) + value.leftPadded(29) + "".padded(20) + "   \(bar)")
    }
}

func time(_ body: () -> Void) -> UInt64 {
    let start = DispatchTime.now().uptimeNanoseconds
    body()
    return DispatchTime.now().uptimeNanoseconds - start
}

/// Returns the nanoseconds that `body` takes in a task.
func inTask(_ body: @escaping @Sendable () async -> Void) -> UInt64 {
    let done = DispatchSemaphore(value: 0)
    return time {
        Task.detached {
            await body()
            done.signal()
        }
        done.wait()
    }
}

/// Returns the processor time of the whole process, all threads, in nanoseconds.
func processorTime(_ body: () -> Void) -> UInt64 {
    func now() -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
    let start = now()
    body()
    return now() - start
}

extension [Double] {
    var median: Double {
        let sorted = self.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

extension Double {
    func formatted(_ digits: Int) -> String { String(format: "%.\(digits)f", self) }
}

extension String {
    func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
    func leftPadded(_ width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
